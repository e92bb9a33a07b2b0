/**
 * The cases of the matrix that ADK, as google-adk 2.13.0 is, can't do, by name, and why. Nothing else
 * is left out of it; what is there in their place is in `tests/adk`.
 */
import type { Cases } from './left-out.ts';

const together =
  'ADK 2.13.0 takes all answers of a step together: told of one, an app that is not resumable asks the model at once';

const ownInput =
  'ADK 2.13.0 runs a confirmed call with the input of the model, whatever the confirmation says';

const aborted =
  'ADK 2.13.0 cancels a tool that is at work when whoever listened to its run is gone';

const noReport =
  'ADK 2.13.0 waits for the result of a long-running call in the turn that made it: it opens none of its own';

const noProgress = 'a tool of ADK 2.13.0 has no way to tell how far it is';

/** Neither over SSE nor in live mode. */
const inNeither: Cases = {
  'input.test.ts': {
    'one that the approver changed is the one that counts': ownInput,
    'another change of the same input is refused': ownInput,
  },
  'long-running-tool.test.ts': {
    'the result comes as a message of its own': noReport,
    'a page that has not heard of it goes on': noReport,
    'it waits for a turn that is parked': noReport,
  },
  'nested-client-call.test.ts': {
    'until the page answers, the outer call is open': noProgress,
  },
};

export const notInAdk: Cases = {
  'elsewhere.test.ts': {
    'two tabs answer a question each': together,
  },
  ...inNeither,
  'payments.test.ts': {
    'answered one by one in the page, each answer sent at once': together,
    'answered one by one from elsewhere, and then in the page once more': together,
  },
  'restart.test.ts': {
    'a tool is between its two questions': aborted,
    'a tool is before its first question': aborted,
    'a tool waits for a page': aborted,
    'one of two payments is answered': together,
    'a report that is being written is not forgotten': noReport,
  },
  'resume.test.ts': {
    'when some questions are settled and one is open': together,
  },
};

/** The same in live mode, where tools ask by themselves. */
export const notInAdkLive: Cases = {
  ...inNeither,
  'restart.test.ts': {
    'a payment waits for its answer': aborted,
    'a denial after the restart': aborted,
    'an answer from elsewhere after the restart': aborted,
    'a tool is between its two questions': aborted,
    'a tool is before its first question': aborted,
    'a tool waits for a page': aborted,
    'one of two payments is answered': aborted,
    'a report that is being written is not forgotten': noReport,
  },
};
