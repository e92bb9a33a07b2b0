/**
 * The cases of the matrix that the seeds' dialect has no words for, by name, and why. Nothing else is
 * left out of it; what only that dialect has is in `tests/seeds`.
 */
import { basename } from 'node:path';
import { afterAll, beforeEach } from 'vitest';

const noResume =
  'no frame asks for a turn that runs: a page that comes back reads the chat by HTTP, and hears only what follows its next answer';

const noProfile =
  'no frame names a profile: every page is spoken to in words that all clients know';

/** By file, the names of tests without the version of the client. */
const cases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'profile.test.ts': {
    'a payment is approved': noProfile,
    'a client tool is approved': noProfile,
    'a question that was settled elsewhere is shown as it was settled': noProfile,
    'a no to what was approved elsewhere is corrected': noProfile,
  },
  'restart.test.ts': {
    'a text that is being said is said again': noResume,
  },
  'resume.test.ts': {
    'in the middle of a text, to its end, on both versions': noResume,
    'any number of readers see the same': noResume,
    'after it was left by the same client': noResume,
    'in the middle of a tool': noResume,
  },
};

let isLeftOut = false;

/** Leaves out the cases of the file that calls it, and throws if one of them is not there. */
export function leaveOut(): void {
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
