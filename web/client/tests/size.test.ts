/** What a page loads that imports the transport and nothing else. */
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));

/** The minified module of a page that imports these from the package, and the files that are in it. */
async function bundled(...names: string[]): Promise<{ code: string; files: string[] }> {
  const entry = 'virtual:page';
  const page = {
    name: 'page',
    resolveId: (id: string) => (id === entry ? id : undefined),
    load: (id: string) =>
      id === entry ? `export { ${names.join(', ')} } from ${JSON.stringify(index)};` : undefined,
  };
  const build = await rolldown({ input: entry, external: ['ai'], plugins: [page] });
  const { output } = await build.generate({ format: 'esm', minify: true });
  const [{ code, modules }] = output;
  const files = Object.entries(modules).filter(
    ([id, { renderedLength }]) => dirname(id) === dirname(index) && renderedLength > 0,
  );
  return { code, files: files.map(([id]) => basename(id)) };
}

test('an import of the transport brings the transport alone', async () => {
  const { code, files } = await bundled('AdkStreamChatTransport');
  expect(files.sort()).toEqual([
    'adk-stream-error.ts',
    'api-error.ts',
    'api-request.ts',
    'backoff.ts',
    'chat-window.ts',
    'chunk.ts',
    'connection.ts',
    'digests.ts',
    'frame.ts',
    'resolvable.ts',
    'socket-probe.ts',
    'speech.ts',
    'stop-turn.ts',
    'store.ts',
    'stream-position.ts',
    'transport.ts',
    'web-socket.ts',
  ]);
  // It was 8,281 before the server knew where a client is (docs/adr/0022).
  expect(gzipSync(code).length).toBeLessThan(6_500);
});
