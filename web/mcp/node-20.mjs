/**
 * Lets the conformance suite of MCP start on Node 20. It imports `globSync`, which came with Node 22, for
 * a command that is not used here; an import that does not exist keeps the whole program from starting.
 */
import { register } from 'node:module';

const fs = `
  export * from 'node:fs';
  export { default } from 'node:fs';
  export const globSync = () => { throw new Error('fs.globSync needs Node 22'); };
`;

const hooks = `
  const fs = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(fs)});
  export async function resolve(specifier, context, next) {
    const isSuite = context.parentURL?.includes('/@modelcontextprotocol/conformance/');
    return isSuite && /^(node:)?fs$/.test(specifier)
      ? { url: fs, format: 'module', shortCircuit: true }
      : next(specifier, context);
  }
`;

register(`data:text/javascript,${encodeURIComponent(hooks)}`);
