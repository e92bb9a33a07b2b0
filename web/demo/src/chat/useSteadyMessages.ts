import { useRef } from 'react';
import type { Message } from '../server/api.ts';

/**
 * The messages without the moment in which a resumed stream begins the last one again: it is replayed from
 * its start, and what was to be seen of it already stays until as much was replayed.
 */
export function useSteadyMessages(messages: Message[], isBusy: boolean): Message[] {
  const before = useRef(messages);
  const last = messages.at(-1);
  const shown = before.current.at(-1);
  const isShrunk =
    isBusy &&
    last !== undefined &&
    shown !== undefined &&
    last.id === shown.id &&
    messages.length === before.current.length &&
    size(last) < size(shown);
  if (!isShrunk) {
    before.current = messages;
  }
  return before.current;
}

const size = (message: Message) =>
  message.parts.reduce((sum, part) => sum + 1 + ('text' in part ? part.text.length : 0), 0);
