/** Watches every write of a chat for a tool part that goes back on what it said before. */
import { isDeepStrictEqual } from 'node:util';
import type { UIMessage } from 'ai-7';
import { type ToolPart, toolParts } from './tool-part.ts';

type Seen = Pick<ToolPart, 'state' | 'output' | 'errorText' | 'preliminary'>;

export class StateWatch {
  sawBack = false;

  /** By message id, the tool parts at that message's last write. */
  readonly #lastWrite = new Map<string, Map<string, Seen>>();

  readonly see = (message: UIMessage): void => {
    const before = this.#lastWrite.get(message.id);
    const now = new Map<string, Seen>();
    for (const part of toolParts(message)) {
      // The n-th part of a call is compared with the n-th: a call that has two parts is another
      // fault, and its second part did not come out of the first.
      let key = part.toolCallId;
      while (now.has(key)) {
        key = `${key}\n`;
      }
      const seen = structuredClone({
        state: part.state,
        output: part.output,
        errorText: part.errorText,
        preliminary: part.preliminary,
      }) as Seen;
      now.set(key, seen);
      const last = before?.get(key);
      if (last !== undefined && goesBack(last, seen)) {
        this.sawBack = true;
      }
    }
    // A part that is gone is forgotten: a replay builds the message again from nothing.
    this.#lastWrite.set(message.id, now);
  };
}

function goesBack(before: Seen, now: Seen): boolean {
  if (isSettled(before)) {
    return !(
      isSettled(now) &&
      now.state === before.state &&
      now.errorText === before.errorText &&
      isDeepStrictEqual(now.output, before.output)
    );
  }
  switch (before.state) {
    case 'input-available':
      return now.state === 'input-streaming';
    case 'approval-requested':
      return now.state === 'input-streaming' || now.state === 'input-available';
    default:
      return false;
  }
}

function isSettled(part: Seen): boolean {
  return (
    part.state === 'output-error' ||
    part.state === 'output-denied' ||
    (part.state === 'output-available' && part.preliminary !== true)
  );
}
