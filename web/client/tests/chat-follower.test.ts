/** A chat whose stream begins its message again: what a person does waits for it, and not for ever. */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeDurableChat } from '../src/durable-chat.ts';
import { type DurableChats, durableChats } from '../src/durable-chats.ts';
import { MemoryChat } from './support/memory-chat.ts';

const said: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
const begun: UIMessage = {
  id: 'a1',
  role: 'assistant',
  parts: [{ type: 'text', text: 'Hello the', state: 'streaming' }],
};

const chunks: UIMessageChunk[] = [
  { type: 'start', messageId: 'a1' },
  { type: 'start-step' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hello ' },
  { type: 'text-delta', id: 't', delta: 'there' },
];

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A page in a chat whose turn runs, over a transport that resumes in one way. */
async function page(reconnectToStream: ChatTransport<UIMessage>['reconnectToStream']) {
  const sent: UIMessage[][] = [];
  const transport: ChatTransport<UIMessage> = {
    resumeStreamIsReplay: true,
    reconnectToStream,
    sendMessages: async ({ messages }) => {
      sent.push(structuredClone(messages));
      return new ReadableStream({ start: controller => controller.close() });
    },
  };
  const chats: DurableChats = {
    ...durableChats({ transport: () => transport }),
    load: async () => ({
      status: 'running',
      messages: structuredClone([said, begun]),
      seq: 1,
      error: undefined,
      queued: [],
    }),
    events: {
      ...durableChats({ transport: () => transport }).events,
      subscribe: () => () => undefined,
    },
  };
  const durable = makeDurableChat<UIMessage>(
    init => new MemoryChat(init as never),
    () => ({ id: 'chat', chats }),
  );
  const leave = durable.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(durable.shown(durable.chat.messages)).toEqual([said, begun]);
  return { ...durable, sent, leave };
}

const ids = (messages: UIMessage[] | undefined) => messages?.map(({ id }) => id);

test.each(['that never comes', 'that brings nothing'])(
  'a stream %s is given up, and what was shown is there to be followed',
  async kind => {
    const { actions, chat, sent, leave } = await page(
      kind === 'that never comes'
        ? () => new Promise(() => undefined)
        : async () => new ReadableStream(),
    );
    void actions.sendMessage({ text: 'And now?' });
    await vi.advanceTimersByTimeAsync(9_900);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(sent).toHaveLength(1);
    expect(ids(sent[0])?.slice(0, 2)).toEqual(['u1', 'a1']);
    expect(chat.error).toBeUndefined();
    leave();
  },
);

test('what is said waits until the stream has brought all that is shown, and no longer', async () => {
  let controller: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  const { actions, sent, leave } = await page(
    async () =>
      new ReadableStream({
        start: it => {
          controller = it;
        },
      }),
  );
  void actions.sendMessage({ text: 'And now?' });
  for (const chunk of chunks) {
    expect(sent).toEqual([]);
    // Longer in all than it may bring nothing.
    await vi.advanceTimersByTimeAsync(4_000);
    controller?.enqueue(chunk);
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toHaveLength(1);
  expect(ids(sent[0])?.slice(0, 2)).toEqual(['u1', 'a1']);
  leave();
});
