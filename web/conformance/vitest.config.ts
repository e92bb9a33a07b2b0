import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Longer than the patience of the tests with the server, so that those say what they wait for.
    testTimeout: 30_000,
    // The tests with the server wait more than they compute.
    maxWorkers: 3,
  },
});
