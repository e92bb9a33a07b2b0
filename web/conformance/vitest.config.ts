import { defineConfig } from 'vitest/config';
import { failures } from '../failures.ts';
import { type Cell, type CellName, cells, isLongRun } from './src/cells.ts';
import { isModel } from './src/server/litellm.ts';
import type {} from './tests/turn/served.ts';

/** What every project with a server says, in a cell of the matrix. */
function inCell(cell: CellName) {
  const isAdk = cell.startsWith('adk');
  const isAiSdk = cell.startsWith('ai-sdk');
  const isAgUi = cells[cell].agent === 'ag-ui';
  const isBehindLitellm = isModel(cells[cell].agent);
  return {
    provide: { cell },
    testTimeout: 30_000,
    // The files of a project share workers, and load the four clients once in each: no file leaves a
    // global or the state of a module changed.
    isolate: false,
    // An ADK that a file has for itself takes seconds to start.
    ...(isAdk && { globalSetup: ['src/server/adk-setup.ts'], hookTimeout: 60_000 }),
    ...(isAiSdk && { globalSetup: ['src/server/ai-sdk-setup.ts'] }),
    ...(isAgUi && { globalSetup: ['src/server/ag-ui-setup.ts'], hookTimeout: 120_000 }),
    ...(isBehindLitellm && { globalSetup: ['src/server/litellm-setup.ts'], hookTimeout: 60_000 }),
  };
}

/** The files of `tests/turn` that this run has of a cell, as patterns. */
function filesOf({ shortRun }: Cell): readonly string[] {
  return isLongRun || shortRun === undefined ? ['*'] : shortRun;
}

const matrix = Object.entries<Cell>(cells)
  .map(([name, cell]) => ({ name, ...cell, files: filesOf(cell) }))
  .filter(({ files }) => files.length > 0)
  .map(({ name, transport, without = {}, files }) => ({
    test: {
      ...inCell(name as CellName),
      name,
      include: [
        ...files.map(file => `tests/turn/${file}.test.ts`),
        ...(transport === 'legacy' ? ['tests/legacy/*.test.ts'] : []),
      ],
      exclude: Object.keys(without).map(file => `tests/turn/${file}.test.ts`),
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
        test: {
          name: 'wire',
          include: ['tests/*.test.ts'],
          exclude: ['tests/journals.test.ts'],
          isolate: false,
        },
      },
      ...matrix,
      // Of the others, most name their transports and agents themselves.
      { test: { ...inCell('gemini'), name: 'gemini-faults', include: ['tests/gemini/*.test.ts'] } },
      {
        test: { ...inCell('gemini'), name: 'agent-file', include: ['tests/agent-file/*.test.ts'] },
      },
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
          // The tests tell the model what to say, and there is but one. Vitest runs files one by one beside
          // other projects only where they are isolated.
          fileParallelism: false,
          isolate: true,
        },
      },
      {
        test: {
          ...inCell('ai-sdk'),
          name: 'ai-sdk-own',
          include: ['tests/ai-sdk/*.test.ts'],
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...inCell('ag-ui-agent'),
          name: 'ag-ui-agent-own',
          include: ['tests/ag-ui-agent/*.test.ts'],
        },
      },
      { test: { ...inCell('sse'), name: 'ag-ui', include: ['tests/ag-ui/*.test.ts'] } },
      { test: { ...inCell('sse'), name: 'workflow', include: ['tests/workflow/*.test.ts'] } },
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
          // They measure time and memory: nothing else may run beside them, or before them in their
          // process.
          fileParallelism: false,
          isolate: true,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...inCell('adk'),
          name: 'adk-outages',
          include: ['tests/adk/outages.test.ts'],
          // An ADK takes long to start where much else runs.
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
