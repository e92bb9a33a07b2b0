/** Tests of the matrix, generated only in cells that can do what they need. */
import { describe, inject, type SuiteAPI, type TestAPI, test } from 'vitest';
import { type Capability, type Cell, cells } from '../../src/cells.ts';

/** The cell of this run. */
export const cell: Cell = cells[inject('cell')];

/** Whether the cell of this run can do it. */
export const can = (...needs: Capability[]) => needs.every(it => !Object.hasOwn(cell.cannot, it));

const nothing = Object.assign(() => {}, { each: () => () => {} });

/** `test`, for what needs more than every cell can do. */
export const flow = (...needs: Capability[]): TestAPI =>
  can(...needs) ? test : (nothing as unknown as TestAPI);

/** The same for `describe`. */
export const flows = (...needs: Capability[]): SuiteAPI =>
  can(...needs) ? describe : (nothing as unknown as SuiteAPI);
