import { defineConfig } from 'vitest/config';
import { failures } from '../failures.ts';
import type {} from './tests/turn/served.ts';

/** Tests of the matrix that are about HTTP alone, and play no page. */
const httpOnly = ['tests/turn/checker.test.ts', 'tests/turn/routes.test.ts'];

export default defineConfig({
  test: {
    reporters: ['default', failures],
    // The tests with the server wait more than they compute.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'sse',
          provide: { transport: 'sse', agent: 'demo' },
          exclude: [
            'tests/socket/**',
            'tests/seeds/**',
            'tests/gemini/**',
            'tests/gemini-live/**',
            'tests/adk/**',
            'tests/faults/**',
            'tests/journals.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'socket',
          include: ['tests/turn/*.test.ts'],
          exclude: httpOnly,
          provide: { transport: 'socket', agent: 'demo' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'live',
          include: ['tests/turn/*.test.ts'],
          // The other two name their agent themselves.
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts', 'tests/turn/seeds.test.ts'],
          provide: { transport: 'socket', agent: 'demo-live' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'seeds',
          include: ['tests/turn/*.test.ts', 'tests/seeds/*.test.ts'],
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts'],
          provide: { transport: 'seeds', agent: 'demo' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'seeds-live',
          include: ['tests/turn/*.test.ts', 'tests/seeds/*.test.ts'],
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts', 'tests/turn/seeds.test.ts'],
          provide: { transport: 'seeds', agent: 'demo-live' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'gemini',
          include: ['tests/turn/*.test.ts'],
          // The others name their agent themselves.
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts', 'tests/turn/seeds.test.ts'],
          provide: { transport: 'sse', agent: 'gemini' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'gemini-live',
          include: ['tests/turn/*.test.ts'],
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts', 'tests/turn/seeds.test.ts'],
          provide: { transport: 'socket', agent: 'gemini-live' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'gemini-faults',
          include: ['tests/gemini/*.test.ts'],
          // Pages of both transports; most tests name theirs.
          provide: { transport: 'sse', agent: 'gemini' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'gemini-live-faults',
          include: ['tests/gemini-live/*.test.ts'],
          provide: { transport: 'socket', agent: 'gemini-live' },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'adk',
          // Outages take their time, and have an ADK of their own.
          include: ['tests/turn/*.test.ts', 'tests/adk/outages.test.ts'],
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts'],
          provide: { transport: 'sse', agent: 'adk' },
          globalSetup: ['src/server/adk-setup.ts'],
          testTimeout: 30_000,
          // An ADK that a file has for itself takes seconds to start.
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'adk-own',
          include: ['tests/adk/*.test.ts'],
          exclude: ['tests/adk/outages.test.ts'],
          // Pages of both transports. The tests tell the model what to say, and there is but one.
          provide: { transport: 'sse', agent: 'adk' },
          globalSetup: ['src/server/adk-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'adk-socket',
          include: ['tests/turn/*.test.ts'],
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts'],
          provide: { transport: 'socket', agent: 'adk' },
          globalSetup: ['src/server/adk-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'adk-live',
          // Tools that ask people and pages by themselves.
          include: ['tests/turn/*.test.ts'],
          exclude: [...httpOnly, 'tests/turn/one-at-a-time.test.ts'],
          provide: { transport: 'socket', agent: 'adk-live' },
          globalSetup: ['src/server/adk-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['tests/faults/*.test.ts'],
          // Each test names its transports.
          provide: { transport: 'sse', agent: 'demo' },
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'alone',
          include: ['tests/socket/*.test.ts', 'tests/gemini-live/alone/*.test.ts'],
          provide: { transport: 'socket', agent: 'demo' },
          testTimeout: 30_000,
          // They measure time and memory: nothing else may run beside them.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'journals',
          // It judges what all the others have left.
          include: ['tests/journals.test.ts'],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
