import { isToolUIPart } from 'ai';
import type { Message } from '../server/api.ts';

/** What a person sees of a message, in a line: two that show the same have the same. */
export function digest(message: Message): string {
  const parts = message.parts.map(part => {
    if (isToolUIPart(part)) {
      const approval = 'approval' in part ? part.approval?.id : undefined;
      return `${part.toolCallId} ${part.state} ${approval ?? ''}`;
    }
    return part.type === 'text' || part.type === 'reasoning' ? part.text.length : part.type;
  });
  return JSON.stringify([message.id, message.metadata?.turn, parts]);
}

/**
 * The server's messages in place of the page's, or nothing where they show the same. Messages that
 * have not changed stay the very same, so that they are not drawn again.
 */
export function replaced(ours: Message[], theirs: Message[]): Message[] | undefined {
  const known = new Map(ours.map(message => [digest(message), message]));
  const next = theirs.map(message => known.get(digest(message)) ?? message);
  const isSame = next.length === ours.length && next.every((message, at) => message === ours[at]);
  return isSame ? undefined : next;
}
