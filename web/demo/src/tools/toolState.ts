import { type Outcome, unknownReasonOf } from '../journal/entry.ts';
import type { Question } from '../journal/journal.ts';
import type { Words } from '../language/en.ts';
import { failure, isPending } from './output.ts';
import type { ToolPart } from './toolParts.ts';

/** How a call stands, in a word. */
export type Word =
  | 'asked'
  | 'answered'
  | 'running'
  | 'done'
  | 'denied'
  | 'failed'
  | 'timed out'
  | 'unknown';

export interface ToolState {
  word: Word;
  note?: string | undefined;
}

/** How the message of a call stands. Plain values, so that a message is drawn anew only for a reason. */
export interface Standing {
  /** Whether its turn can go on: nothing was said after it, and nobody has stopped it. */
  isOpen: boolean;
  /** Whether it is being streamed. */
  isBusy: boolean;
  /** Whether its last stream ended with an error. */
  isBroken: boolean;
}

/** What the journal says of a call. */
export interface Recorded {
  question?: Question | undefined;
  /** What came of it, where it went on by itself. */
  result?: Outcome | undefined;
  /** What came of it, as the journal has it. */
  outcome?: Outcome | undefined;
}

/** What the server says of calls in words that the page knows. */
const TIMED_OUT = 'Approval request timed out';
const UNKNOWN = 'The outcome is unknown';

/** How a call stands, and what else there is to say of it. */
export function toolState(
  part: ToolPart,
  standing: Standing,
  { question, result, outcome }: Recorded,
  words: Words['tool'],
): ToolState {
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return unfinished(standing, words);
    case 'approval-requested':
      return asked(standing, question, words);
    case 'approval-responded':
      return responded(part.approval, standing, words);
    case 'output-available':
      return part.preliminary === true
        ? unfinished(standing, words)
        : finished(part.output, result, words);
    case 'output-error':
      return errored(part.errorText, outcome, words);
    case 'output-denied':
      return {
        word: 'denied',
        note: reason(part.approval?.reason ?? question?.closed?.reason, words),
      };
  }
}

function asked(
  { isOpen }: Standing,
  question: Question | undefined,
  words: Words['tool'],
): ToolState {
  if (!isOpen) {
    return { word: 'denied', note: words.unanswered };
  }
  // Answered from elsewhere, and the stream has not said so yet.
  return question?.closed === undefined ? { word: 'asked' } : { word: 'answered' };
}

/** What the server says of a question that was written over, in our words. */
function reason(given: string | undefined, words: Words['tool']): string | undefined {
  return given?.startsWith('superseded:') ? words.unanswered : given;
}

/** To a page that comes back, a stream for every release can tell an old denial only as an error. */
function errored(errorText: string, outcome: Outcome | undefined, words: Words['tool']): ToolState {
  if (errorText === TIMED_OUT) {
    return { word: 'timed out', note: words.timedOut };
  }
  if (errorText.startsWith(UNKNOWN)) {
    return unknown(outcome, words);
  }
  const denied = /^Denied(?:: (.*))?$/s.exec(errorText);
  return denied === null
    ? { word: 'failed', note: errorText }
    : { word: 'denied', note: reason(denied[1], words) };
}

function unknown(outcome: Outcome | undefined, words: Words['tool']): ToolState {
  return { word: 'unknown', note: words.outcomeUnknown[unknownReasonOf(outcome)] };
}

function unfinished({ isOpen, isBroken }: Standing, words: Words['tool']): ToolState {
  return isOpen && !isBroken ? { word: 'running' } : { word: 'failed', note: words.ended };
}

function responded(
  { approved, reason }: { approved: boolean; reason?: string | undefined },
  { isBroken, isBusy }: Standing,
  words: Words['tool'],
): ToolState {
  if (isBroken) {
    return { word: 'failed', note: words.notHeard };
  }
  if (!approved) {
    return { word: 'denied', note: reason };
  }
  return isBusy ? { word: 'running' } : { word: 'answered', note: words.held };
}

function finished(output: unknown, result: Outcome | undefined, words: Words['tool']): ToolState {
  if (!isPending(output)) {
    const why = failure(output);
    return why === undefined ? { word: 'done' } : { word: 'failed', note: why };
  }
  switch (result?.outcome) {
    case undefined:
    case 'pending':
      return { word: 'running', note: words.later };
    case 'output':
      return finished(result?.output, undefined, words);
    case 'unknown':
      return unknown(result, words);
    default:
      return { word: 'failed', note: result?.error ?? result?.reason };
  }
}
