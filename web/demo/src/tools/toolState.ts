import { type Outcome, unknownReasonOf } from '../journal/entry.ts';
import type { Question } from '../journal/journal.ts';
import type { Words } from '../language/en.ts';
import { failure, isPending } from './output.ts';
import type { ToolPart } from './toolParts.ts';

/** The state of a call, as one word. */
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

/** The state of a call's message. Plain values, so that a message is drawn again only for a reason. */
export interface CallContext {
  /** Whether its turn can continue: nothing was said after it, and nobody has stopped it. */
  isOpen: boolean;
  /** Whether it is being streamed. */
  isBusy: boolean;
  /** Whether its last stream ended with an error. */
  isBroken: boolean;
}

/** What the journal says of a call. */
export interface Recorded {
  question?: Question | undefined;
  /** The outcome, where it continued by itself. */
  result?: Outcome | undefined;
  /** The outcome, as the journal has it. */
  outcome?: Outcome | undefined;
}

/** What the server says of calls in words that the page knows. */
const TIMED_OUT = ['Approval request timed out', 'Nobody answered in time.'];
const UNKNOWN = 'The outcome is unknown';

/** The state of a call, with a note. */
export function toolState(
  part: ToolPart,
  context: CallContext,
  { question, result, outcome }: Recorded,
  words: Words['tool'],
): ToolState {
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return unfinished(context, words);
    case 'approval-requested':
      return asked(context, question, words);
    case 'approval-responded':
      return responded(part.approval, context, words);
    case 'output-available':
      return part.preliminary === true
        ? unfinished(context, words)
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
  { isOpen }: CallContext,
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

/** To a page that comes back, a stream for every release can send an old denial only as an error. */
function errored(errorText: string, outcome: Outcome | undefined, words: Words['tool']): ToolState {
  if (TIMED_OUT.includes(errorText)) {
    return { word: 'timed out', note: words.timedOut };
  }
  if (errorText.startsWith(UNKNOWN)) {
    return unknown(outcome, words);
  }
  const denied = /^(?:Denied|Declined)(?:: (.*))?$/s.exec(errorText);
  return denied === null
    ? { word: 'failed', note: errorText }
    : { word: 'denied', note: reason(denied[1], words) };
}

function unknown(outcome: Outcome | undefined, words: Words['tool']): ToolState {
  return { word: 'unknown', note: words.outcomeUnknown[unknownReasonOf(outcome)] };
}

function unfinished({ isOpen, isBroken }: CallContext, words: Words['tool']): ToolState {
  return isOpen && !isBroken ? { word: 'running' } : { word: 'failed', note: words.ended };
}

function responded(
  { approved, reason }: { approved: boolean; reason?: string | undefined },
  { isBroken, isBusy }: CallContext,
  words: Words['tool'],
): ToolState {
  if (isBroken) {
    return { word: 'failed', note: words.notReceived };
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
