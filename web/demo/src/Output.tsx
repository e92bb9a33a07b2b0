import { inShort } from './output.ts';

/** What came of a call: a line, and the whole of it for those who ask. */
export function Output({ output, input }: { output: unknown; input: unknown }) {
  return (
    <details className="output">
      <summary>{inShort(output, input) || 'Output'}</summary>
      <pre>{JSON.stringify(output, null, 2)}</pre>
    </details>
  );
}
