/** Cases of the matrix that are left out of a run, each with its reason. */
import { basename } from 'node:path';
import { afterAll, beforeEach } from 'vitest';

/** By file, the names of tests without the version of the client, and why. */
export type Cases = Readonly<Record<string, Readonly<Record<string, string>>>>;

let isLeftOut = false;

/** Leaves out the cases of the file that calls it, and throws if one of them is not there. */
export function leaveOut(cases: Cases): void {
  if (isLeftOut) {
    return;
  }
  isLeftOut = true;
  const seen = new Set<string>();
  let listed: Readonly<Record<string, string>> = {};
  beforeEach(({ task, skip }) => {
    listed = cases[basename(task.file.name)] ?? {};
    const name = task.name.replace(/, on version \d$/, '');
    seen.add(name);
    const reason = listed[name];
    if (reason !== undefined) {
      skip(reason);
    }
  });
  afterAll(() => {
    const missing = Object.keys(listed).filter(name => !seen.has(name));
    if (missing.length > 0) {
      throw new Error(`these are no tests: ${missing.join('; ')}`);
    }
  });
}
