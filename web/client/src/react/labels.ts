/** What the parts say, in English; a page passes its own words to `PartsProvider`. */

/** A span of time in a few letters. */
const span = (seconds: number) =>
  seconds < 100
    ? `${seconds} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`;

const approval = {
  /** The state in the name of a card, after the tool. */
  asked: 'asked',
  asks: (agent: string) => `${agent} asks`,
  question: 'Question',
  reading: 'Reading the question…',
  changed: 'The question has changed since you were shown it. Nothing was decided: read it again.',
  unshown: 'This question can’t be shown, so it can’t be approved here. It can be denied.',
  fields: 'Input',
  noInput: 'No input (empty)',
  empty: (written: string) => `(empty: ${written})`,
  whole: 'The whole value',
  showAll: (size: string) => `Show all, ${size}`,
  showLess: 'Show less',
  tooSoon:
    'That was too soon to be an answer. Read the question and the fields to their end, then press again.',
  unsure:
    'The server does not answer. Whether your answer reached it is not known, and it is not sent again by itself. Asking the server…',
  unreceived:
    'The server has no answer so far. Whether yours still arrives is not known yet. You can answer again: the first answer that arrives counts.',
  within: 'asks in the middle of its work',
  expires: (left: number) => `${span(left)} left`,
  forever: 'waits as long as it takes',
  approve: 'Approve',
  deny: 'Deny',
  edit: 'Edit',
  reason: 'Why not? The agent gets your reason.',
  denyNow: 'Deny it',
  back: 'Back',
  approveEdited: 'Approve this',
  elsewhere: (who: string) => `${who} has answered this already.`,
  badField: {
    string: 'This has to be a text.',
    number: 'This has to be a number, as in JSON.',
    boolean: 'This has to be true or false.',
    null: 'This has to be JSON.',
    object: 'This has to be a JSON object.',
    array: 'This has to be a JSON array.',
  },
  sending: 'Sending…',
  /** Why an answer was not taken. */
  failed: (error: unknown) => (error instanceof Error ? error.message : String(error)),
};

const question = {
  fields: 'What is asked for',
  answer: 'Answer',
  optional: 'optional',
  choose: 'Choose…',
  asJson: 'In JSON.',
  send: 'Send answer',
  decline: 'Decline',
  declineNow: 'Decline it',
  reason: 'Why not? The tool gets your reason.',
  invalid: 'The answer was not taken: see what is wrong with it.',
  bad: {
    number: 'This has to be a number.',
    integer: 'This has to be a whole number.',
    json: 'This has to be JSON.',
  },
};

/** What is said of characters that a text hides. */
const marks = {
  hidden: 'A character that is not to be seen',
  mixed: (scripts: string[]) => `mixed scripts: ${scripts.join(', ')}`,
  rare: (scripts: string[]) => `letters of a rare script: ${scripts.join(', ')}`,
  lookalike: 'looks like other letters, and is not',
  sign: (code: string) => `not the usual sign: ${code}`,
  more: (count: number) => `${count} more marks are left out from here on`,
};

const inbox = {
  title: 'What waits for you',
  empty: 'Nothing waits for you, in any chat.',
  error: 'The list can’t be read.',
};

const connection = {
  looking: 'Looking for the server',
  up: 'Server is up',
  away: 'Server is away',
  connecting: 'Connecting',
  open: 'Socket is open',
  closed: 'Socket opens when needed',
};

export const englishLabels = { approval, question, marks, inbox, connection };

export type PartLabels = typeof englishLabels;
