import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { failures } from '../failures.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

// Every test runs on both majors: `ai` is the one that is tested.
const majors = [
  { name: 'ai 6', alias: { ai: 'ai-6', '@ai-sdk/react': 'ai-sdk-react-6' } },
  { name: 'ai 7', alias: { ai: 'ai-7' } },
];
// The snippets of the README import the package by its name; what is tested is not built.
const own = {
  '@adk-stream/client/react': `${root}src/react.ts`,
  '@adk-stream/client': `${root}src/index.ts`,
};

export default defineConfig({
  test: {
    reporters: ['default', failures],
    projects: majors.map(({ name, alias }) => ({
      root,
      resolve: { alias: { ...alias, ...own } },
      test: {
        name,
        include: ['tests/**/*.test.{ts,tsx}'],
        // The files share workers, and load the SDK once in each: every file puts back the timers and
        // globals that it replaces.
        isolate: false,
        // Longer than the timeouts of the tests with the server, so that those report what they wait for.
        testTimeout: 30_000,
        // Node 20 has a WebSocket, and hides it.
        execArgv: ['--experimental-websocket'],
      },
    })),
  },
});
