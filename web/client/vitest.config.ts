import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { failures } from '../failures.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

// Every test runs on both majors: `ai` is the one that is tested.
const majors = [
  {
    name: 'ai 6',
    alias: {
      ai: 'ai-6',
      '@ai-sdk/react': 'ai-sdk-react-6',
      '@ai-sdk/vue': 'ai-sdk-vue-6',
      '@ai-sdk/svelte': 'ai-sdk-svelte-6',
    },
  },
  { name: 'ai 7', alias: { ai: 'ai-7' } },
];
// It depends on version 7.
const assistantUi = 'tests/**/assistant-ui.test.tsx';
// The snippets of the README import the package by its name; what is tested is not built.
const own = {
  '@adk-stream/client/react/parts': `${root}src/react-parts.ts`,
  '@adk-stream/client/react': `${root}src/react.ts`,
  '@adk-stream/client/svelte': `${root}src/svelte.ts`,
  '@adk-stream/client/vue': `${root}src/vue.ts`,
  '@adk-stream/client': `${root}src/index.ts`,
};

const test = {
  // The files share workers, and load the SDK once in each: every file puts back the timers and
  // globals that it replaces.
  isolate: false,
  // Longer than the timeouts of the tests with the server, so that those report what they wait for.
  testTimeout: 30_000,
  // Node 20 has a WebSocket, and hides it.
  execArgv: ['--experimental-websocket'],
};
const svelteTests = 'tests/**/*svelte.test.ts';

export default defineConfig({
  test: {
    reporters: ['default', failures],
    projects: majors.flatMap(({ name, alias }) => [
      {
        root,
        resolve: { alias: { ...alias, ...own } },
        test: {
          ...test,
          name,
          include: ['tests/**/*.test.{ts,tsx}'],
          exclude: [svelteTests, ...(name === 'ai 6' ? [assistantUi] : [])],
        },
      },
      {
        root,
        // It is published uncompiled, and Svelte has another build for servers, which Node would take.
        plugins: [svelte({ configFile: false })],
        resolve: { alias: { ...alias, ...own }, conditions: ['browser'] },
        test: {
          ...test,
          name: `${name}, Svelte`,
          include: [svelteTests],
          server: { deps: { inline: [/svelte/] } },
        },
      },
    ]),
  },
});
