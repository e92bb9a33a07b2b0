/** Failures, with what a page needs to try again. */
import { DefaultChatTransport } from 'ai';
import { afterEach, expect, test } from 'vitest';
import { AdkStreamError } from '../../src/adk-stream-error.ts';
import { withErrors } from '../../src/with-errors.ts';
import { MemoryChat } from '../support/memory-chat.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve();
let visitor: Visitor;

afterEach(async () => {
  await visitor.leave();
});

const limited = { code: 'rate_limited', retryAfterMs: expect.any(Number) };

function expectLimited(chat: MemoryChat): void {
  expect(chat.error).toBeInstanceOf(AdkStreamError);
  expect(chat.error).toMatchObject(limited);
  // The code is for programs.
  expect(chat.error?.message).not.toMatch(/rate_limited/);
}

test('of a turn, over the socket', async () => {
  visitor = await Visitor.come(server());
  const chat = visitor.chat('failed');
  await chat.say('fail with rate limit');
  expectLimited(chat);
});

test('of a turn, over the SDK’s own transport', async () => {
  visitor = await Visitor.come(server());
  const transport = withErrors(
    new DefaultChatTransport({ api: `${server().url}/api/chat`, headers: visitor.headers }),
  );
  const chat = new MemoryChat({ id: 'failed-sse', transport });
  await chat.say('fail with rate limit');
  expectLimited(chat);
  // A refusal before the stream.
  const other = new MemoryChat({ id: 'a/b', transport });
  await other.say('hello');
  expect(other.error).toMatchObject({ code: 'invalid_chat_id' });
});

test('of a turn, as the SDK’s own transport gives it to a page that knows nothing of us', async () => {
  visitor = await Visitor.come(server());
  const data: unknown[] = [];
  const chat = new MemoryChat({
    id: 'failed-stock',
    transport: new DefaultChatTransport({
      api: `${server().url}/api/chat`,
      headers: visitor.headers,
    }),
    onData: part => data.push(part),
  });
  await chat.say('fail with rate limit');
  expect(data).toMatchObject([{ type: 'data-error', data: limited }]);
  expect(chat.error?.message).toMatch(/^rate_limited: /);
});

test('of a turn that nobody listened to', async () => {
  visitor = await Visitor.come(server());
  const chat = visitor.chat('failed-unheard');
  // The last frame but the error: what follows has to be loaded.
  visitor.frames.allow = (_, frame) => {
    if (frame.chunk?.type === 'data-error' && visitor.sent('resume') === 0) {
      visitor.network.cut();
      return false;
    }
    return true;
  };
  await chat.say('fail with rate limit');
  expect(visitor.sent('resume')).toBeGreaterThan(0);
  expectLimited(chat);
});

test('of a request', async () => {
  visitor = await Visitor.come(server());
  const chat = visitor.chat('a/b');
  await chat.say('hello');
  expect(chat.error).toBeInstanceOf(AdkStreamError);
  expect(chat.error).toMatchObject({ code: 'invalid_chat_id' });
});
