import { failure, isPending } from './output.ts';
import type { ToolPart } from './toolParts.ts';

/** How a call stands, in a word. */
export type Word = 'asked' | 'running' | 'done' | 'denied' | 'failed';

/** How the message of a call stands. */
export interface Standing {
  /** Whether its turn can go on: nothing was said after it, and nobody has stopped it. */
  isOpen: boolean;
  /** Whether it is being streamed. */
  isBusy: boolean;
  /** Whether its last stream ended with an error. */
  isBroken: boolean;
  /** Whether a question in it is open. */
  isAsking: boolean;
  /** Whether the agent said more after it, unasked. */
  hasSequel: boolean;
}

const UNANSWERED = 'Left unanswered.';

/** How a call stands, and what else there is to say of it. */
export function toolState(
  part: ToolPart,
  standing: Standing,
): { word: Word; note?: string | undefined } {
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return unfinished(standing);
    case 'approval-requested':
      return standing.isOpen ? { word: 'asked' } : { word: 'denied', note: UNANSWERED };
    case 'approval-responded':
      return responded(part.approval, standing);
    case 'output-available':
      return part.preliminary === true ? unfinished(standing) : finished(part.output, standing);
    case 'output-error':
      return errored(part.errorText);
    case 'output-denied':
      return { word: 'denied', note: reason(part.approval.reason) };
  }
}

/** What the server says of a question that was written over, in our words. */
function reason(given: string | undefined): string | undefined {
  return given?.startsWith('superseded:') ? UNANSWERED : given;
}

/** To a page that comes back, a stream for every release can tell an old denial only as an error. */
function errored(errorText: string): { word: Word; note?: string | undefined } {
  const denied = /^Denied(?:: (.*))?$/s.exec(errorText);
  return denied === null
    ? { word: 'failed', note: errorText }
    : { word: 'denied', note: reason(denied[1]) };
}

function unfinished({ isOpen, isBroken }: Standing): { word: Word; note?: string } {
  return isOpen && !isBroken
    ? { word: 'running' }
    : { word: 'failed', note: 'The turn ended before this was done.' };
}

function responded(
  { approved, reason }: { approved: boolean; reason?: string },
  { isAsking, isBroken }: Standing,
): { word: Word; note?: string | undefined } {
  if (isBroken) {
    return { word: 'failed', note: 'Your answer may not have reached the server.' };
  }
  if (!approved) {
    return { word: 'denied', note: reason };
  }
  return isAsking
    ? { word: 'asked', note: 'Approved. It goes ahead when the rest is answered.' }
    : { word: 'running' };
}

function finished(output: unknown, { hasSequel }: Standing): { word: Word; note?: string } {
  if (isPending(output) && !hasSequel) {
    return { word: 'running', note: 'It goes on by itself. The result comes as another message.' };
  }
  const why = failure(output);
  return why === undefined ? { word: 'done' } : { word: 'failed', note: why };
}
