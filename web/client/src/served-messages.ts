/** The messages of a chat as the server has them, beside those that a page shows. */
import type { UIMessage } from 'ai';
import type { QueuedMessage } from './chat-api.ts';
import { isRecord } from './chunk.ts';

/**
 * The server's messages in place of the page's, or nothing where they show the same. Messages that
 * have not changed stay the very same, so that they are not drawn again.
 */
export function replaced<UI_MESSAGE extends UIMessage>(
  ours: readonly UI_MESSAGE[],
  theirs: readonly UI_MESSAGE[],
): UI_MESSAGE[] | undefined {
  const known = new Map(ours.map(message => [digest(message), message]));
  const next = theirs.map(message => known.get(digest(message)) ?? message);
  const isSame = next.length === ours.length && next.every((message, at) => message === ours[at]);
  return isSame ? undefined : next;
}

/**
 * What a person sees of a message, in a line: two that show the same have the same. A message that was
 * edited keeps its id.
 */
function digest({ id, metadata, parts }: UIMessage): string {
  const turn = isRecord(metadata) ? metadata.turn : undefined;
  return JSON.stringify([id, turn, parts.map(shownOf)]);
}

function shownOf(part: UIMessage['parts'][number]): unknown {
  if ('toolCallId' in part) {
    const approval = 'approval' in part ? part.approval?.id : undefined;
    return [part.toolCallId, part.state, approval];
  }
  return part.type === 'text' || part.type === 'reasoning' ? part.text : part.type;
}

/** How much of a message there is to see: it grows as the message does. */
export function sizeOf({ parts }: UIMessage): number {
  return parts.reduce((sum, part) => {
    const text = 'text' in part ? part.text.length : 0;
    const state = 'toolCallId' in part ? (states.get(part.state) ?? states.size) : 0;
    return sum + 1 + text + state;
  }, 0);
}

/** The states that a call goes through on its way to an outcome. */
const states = new Map<string, number>(
  ['input-streaming', 'input-available', 'approval-requested', 'approval-responded'].map(
    (state, index) => [state, index],
  ),
);

/**
 * The server's messages with the answers and outputs that were given here and not sent yet: a chat sends
 * them when the last call of a step has one.
 */
export function withUnsent<UI_MESSAGE extends UIMessage>(
  ours: readonly UI_MESSAGE[],
  theirs: readonly UI_MESSAGE[],
): { messages: UI_MESSAGE[]; hasUnsent: boolean } {
  const given = new Map(ours.flatMap(({ parts }) => parts.flatMap(givenIn)));
  let hasUnsent = false;
  const messages = theirs.map(message => {
    const parts = message.parts.map(part => {
      const open = openOf(part);
      const unsent = open === undefined ? undefined : given.get(open);
      hasUnsent ||= unsent !== undefined;
      return unsent ?? part;
    });
    return parts.every((part, at) => part === message.parts[at]) ? message : { ...message, parts };
  });
  return { messages, hasUnsent };
}

type Part = UIMessage['parts'][number];

/** What a part waits for: an answer, or the output of the page. */
function openOf(part: Part): string | undefined {
  if (!('toolCallId' in part)) {
    return undefined;
  }
  if (part.state === 'approval-requested') {
    return `answer ${part.approval?.id}`;
  }
  return part.state === 'input-available' ? `output ${part.toolCallId}` : undefined;
}

function givenIn(part: Part): [string, Part][] {
  if (!('toolCallId' in part)) {
    return [];
  }
  switch (part.state) {
    case 'approval-responded':
      return [[`answer ${part.approval?.id}`, part]];
    case 'output-available':
    case 'output-error':
      return [[`output ${part.toolCallId}`, part]];
    default:
      return [];
  }
}

/** Whether a page has a call to run in the last message. */
export function waitsForPage(messages: readonly UIMessage[]): boolean {
  return (messages.at(-1)?.parts ?? []).some(
    part => 'toolCallId' in part && part.state === 'input-available',
  );
}

/**
 * The message in whose place the last one is: the page has cut it off, with what came after it. Nothing,
 * where the last one follows all that the page had.
 */
export function replacedBy(
  messages: readonly UIMessage[],
  before: readonly UIMessage[],
): string | undefined {
  const [last, parent] = [messages.at(-1), messages.at(-2)];
  const place = parent === undefined ? 0 : before.findIndex(({ id }) => id === parent.id) + 1;
  const isNew = last?.role === 'user' && before.every(({ id }) => id !== last.id);
  if (!isNew || (parent !== undefined && place === 0)) {
    return undefined;
  }
  return before.slice(place).find(({ role }) => role === 'user')?.id;
}

/** The messages that wait still: one that is given to the agent in the middle of a turn is shown there. */
export function stillQueued<UI_MESSAGE extends UIMessage>(
  queued: readonly QueuedMessage<UI_MESSAGE>[],
  messages: readonly UI_MESSAGE[],
): QueuedMessage<UI_MESSAGE>[] {
  const isShown = ({ message }: QueuedMessage) =>
    messages.some(({ id, parts }) => {
      const isInjected = (part: Part) => part.type === INJECTED && part.id === message.id;
      return id === message.id || parts.some(isInjected);
    });
  return queued.filter(waiting => !isShown(waiting));
}

/** The part of the agent's message that shows a message which was given to the agent there. */
const INJECTED = 'data-user-message';
