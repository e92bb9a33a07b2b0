/**
 * The cases of the matrix that the seeds' dialect has no words for, by name, and why. Nothing else is
 * left out of it; what only that dialect has is in `tests/seeds`.
 */
import type { Cases } from './left-out.ts';

const noResume =
  'no frame asks for a turn that runs: a page that comes back reads the chat by HTTP, and hears only what follows its next answer';

const noProfile =
  'no frame names a profile: every page is spoken to in words that all clients know';

export const notInSeeds: Cases = {
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
    'a turn that ends after the page was loaded': noResume,
    'in the middle of a tool': noResume,
  },
};
