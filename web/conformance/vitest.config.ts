import { defineConfig } from 'vitest/config';
import { failures } from '../failures.ts';
import { type Cell, type CellName, cells, isLongRun } from './src/cells.ts';
import type {} from './tests/turn/served.ts';

/** What every project with a server says, in a cell of the matrix. */
function inCell(cell: CellName) {
  const isAdk = cell.startsWith('adk');
  return {
    provide: { cell },
    testTimeout: 30_000,
    // An ADK that a file has for itself takes seconds to start.
    ...(isAdk && { globalSetup: ['src/server/adk-setup.ts'], hookTimeout: 60_000 }),
  };
}

const matrix = Object.entries<Cell>(cells)
  .filter(([, { isLong }]) => isLongRun || isLong !== true)
  .map(([name, { transport, without = [] }]) => ({
    test: {
      ...inCell(name as CellName),
      name,
      include: [
        'tests/turn/*.test.ts',
        ...(transport === 'legacy' ? ['tests/legacy/*.test.ts'] : []),
      ],
      exclude: without.map(file => `tests/turn/${file}.test.ts`),
    },
  }));

export default defineConfig({
  test: {
    reporters: ['default', failures],
    // The tests with the server wait more than they compute.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: { name: 'wire', include: ['tests/*.test.ts'], exclude: ['tests/journals.test.ts'] },
      },
      ...matrix,
      // Of the others, most name their transports and agents themselves.
      { test: { ...inCell('gemini'), name: 'gemini-faults', include: ['tests/gemini/*.test.ts'] } },
      {
        test: {
          ...inCell('gemini-live'),
          name: 'gemini-live-faults',
          include: ['tests/gemini-live/*.test.ts'],
        },
      },
      {
        test: {
          ...inCell('adk'),
          name: 'adk-own',
          include: ['tests/adk/*.test.ts'],
          exclude: ['tests/adk/outages.test.ts'],
          // The tests tell the model what to say, and there is but one.
          fileParallelism: false,
        },
      },
      {
        test: {
          ...inCell('sse'),
          name: 'faults',
          include: ['tests/faults/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...inCell('socket'),
          name: 'alone',
          include: ['tests/socket/*.test.ts', 'tests/gemini-live/alone/*.test.ts'],
          // They measure time and memory: nothing else may run beside them.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...inCell('adk'),
          name: 'adk-outages',
          include: ['tests/adk/outages.test.ts'],
          // While ADK is away, nobody else may get its port.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'journals',
          // It judges what all the others have left.
          include: ['tests/journals.test.ts'],
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
