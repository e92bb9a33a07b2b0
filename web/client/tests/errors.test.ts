/** What a page is given of a failure. */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { expect, test } from 'vitest';
import { AdkStreamError } from '../src/adk-stream-error.ts';
import { toAdkStreamError, withErrors } from '../src/with-errors.ts';
import { MemoryChat } from './support/memory-chat.ts';

const failed: UIMessageChunk[] = [
  { type: 'start', messageId: 'm' },
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Half of' },
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
];

const details: UIMessageChunk = {
  type: 'data-error',
  data: { code: 'rate_limited', message: 'Too many requests.', retryAfterMs: 1500 },
  transient: true,
};

const error: UIMessageChunk = { type: 'error', errorText: 'rate_limited: Too many requests.' };

function transportOf(...chunks: UIMessageChunk[]): ChatTransport<UIMessage> {
  return {
    sendMessages: async () =>
      new ReadableStream({
        start(controller) {
          for (const chunk of chunks) {
            controller.enqueue(chunk);
          }
          controller.close();
        },
      }),
    reconnectToStream: async () => null,
  };
}

test('a failed turn has its code and when to try again, and what was said stays', async () => {
  const chat = new MemoryChat({ transport: withErrors(transportOf(...failed, details, error)) });
  await chat.say('hi');
  expect(chat.error).toBeInstanceOf(AdkStreamError);
  expect(chat.error).toMatchObject({
    code: 'rate_limited',
    message: 'Too many requests.',
    retryAfterMs: 1500,
  });
  expect(chat.status).toBe('error');
  expect(chat.text).toBe('Half of');
  expect(chat.messages.at(-1)?.parts.map(({ type }) => type)).toEqual(['step-start', 'text']);
});

test('the code of an older server is in the text', async () => {
  const chat = new MemoryChat({ transport: withErrors(transportOf(...failed, error)) });
  await chat.say('hi');
  expect(chat.error).toMatchObject({ code: 'rate_limited', message: 'Too many requests.' });
});

test.each([
  ['{"error":{"code":"too_large","message":"no"}}', 'too_large', 'no'],
  ['agent_failed: It broke: twice', 'agent_failed', 'It broke: twice'],
  ['Something: else', '', 'Something: else'],
  ['{"a":1}', '', '{"a":1}'],
])('%s is read', (text, code, message) => {
  expect(toAdkStreamError(new Error(text))).toMatchObject({ code, message });
});

test('what the network did stays as it is', async () => {
  const transport = withErrors({
    ...transportOf(),
    sendMessages: async () => {
      throw new TypeError('fetch failed');
    },
  });
  const chat = new MemoryChat({ transport });
  await chat.say('hi');
  expect(chat.error).toBeInstanceOf(TypeError);
});
