/** Answers inside of a chat, on the real server: bound to what was shown, over both transports. */
import { DefaultChatTransport } from 'ai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Approvals, approvals } from '../../src/approvals.ts';
import { withDigests } from '../../src/digests.ts';
import { sendAutomaticallyWhen } from '../../src/send-automatically.ts';
import { MemoryChat } from '../support/memory-chat.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve();
let visitor: Visitor;
let store: Approvals;
/** What the page says that it has shown. */
let digestOf: (approvalId: string) => string | undefined;

beforeEach(async () => {
  visitor = await Visitor.come(server(), { digestOf: id => digestOf(id) });
  const { network, headers } = visitor;
  store = approvals({ api: `${network.url}/api/approvals`, headers, pollMs: 0 });
  digestOf = store.digestOf;
});

afterEach(async () => {
  await visitor.leave();
});

const ways = {
  sse: (id: string) => {
    const { headers, network } = visitor;
    const transport = new DefaultChatTransport({
      api: `${network.url}/api/chat`,
      headers,
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
        headers,
        body: { ...body, id, trigger, messageId, messages: withDigests(messages, digestOf) },
      }),
    });
    return new MemoryChat({ id, transport, sendAutomaticallyWhen });
  },
  socket: (id: string) => visitor.chat(id),
};

describe.each(['sse', 'socket'] as const)('over %s', way => {
  test('an answer to what is asked counts', async () => {
    const chat = ways[way](`${way}-bound`);
    await chat.say('Send $20 to Sam');
    await store.refresh();
    const [asked] = store.get().approvals;
    expect(asked?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(store.digestOf(asked?.approvalId ?? '')).toBe(asked?.digest);
    await chat.answer(true);
    await visitor.expectServed(chat);
    expect((await visitor.api.wallet()).payments).toHaveLength(1);
  });

  test('an answer to something else decides nothing', async () => {
    const chat = ways[way](`${way}-changed`);
    await chat.say('Send $20 to Sam');
    digestOf = () => '0'.repeat(64);
    await chat.answer(true);
    if (way === 'socket') {
      expect(chat.error).toMatchObject({ code: 'approval_changed' });
    } else {
      // The SDK's own transport gives the body as it came.
      expect(chat.error?.message).toContain('approval_changed');
    }
    await store.refresh();
    expect(store.get().approvals, 'it is still asked').toHaveLength(1);
    expect((await visitor.api.wallet()).payments).toEqual([]);
  });
});

test('a stream for version 7 brings the digest, and the transport sends it back', async () => {
  const other = await Visitor.come(server(), { profile: 'v7' });
  const chat = other.chat('descriptor');
  await chat.say('Send $20 to Sam');
  const [asked] = chat.calls;
  const approval = asked?.approval as { descriptor?: { digest?: string } } | undefined;
  const digest = approval?.descriptor?.digest;
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  await chat.answer(true);
  expect(JSON.stringify(other.frames.sent.at(-1))).toContain(`"digest":"${digest}"`);
  expect((await other.api.wallet()).payments).toHaveLength(1);
  await other.leave();
});

test('by REST an answer brings what was read, and one to something else is refused', async () => {
  await visitor.chat('rest').say('Send $20 to Sam');
  await store.refresh();
  const [asked] = store.get().approvals;
  const id = asked?.approvalId ?? '';
  const record = await store.read(id);
  expect(record).toMatchObject({
    approvalId: id,
    question: asked?.question,
    digest: asked?.digest,
  });
  expect(record?.inputText).toContain('"amount":20');
  await expect(store.answer(id, { approved: true, digest: 'f'.repeat(64) })).rejects.toMatchObject({
    status: 409,
    code: 'approval_changed',
    approval: { approvalId: id, digest: asked?.digest },
  });
  expect((await visitor.api.wallet()).payments).toEqual([]);
  expect(await store.answer(id, { approved: true })).toMatchObject({ isOurs: true });
  expect((await store.read(id))?.decision).toMatchObject({ approved: true });
});
