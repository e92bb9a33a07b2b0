/** A page that loads a chat and then resumes it, while its turn ends in between. */
import { type ChatTransport, DefaultChatTransport, type UIMessage } from 'ai';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredChat } from '../../src/chat-api.ts';
import { type StoredChats, storedChats } from '../../src/stored-chats.ts';
import { MemoryChat } from '../support/memory-chat.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve({ pace: 2 });
let visitor: Visitor;
let chats: StoredChats;

beforeEach(async () => {
  visitor = await Visitor.come(server(), { seqOf: id => chats.seqOf(id) });
  const { headers, network } = visitor;
  chats = storedChats({ api: `${network.url}/api/chat`, headers });
});

afterEach(async () => {
  await visitor.leave();
});

const ways = ['sse', 'bidi'] as const;

function transport(way: 'sse' | 'bidi'): ChatTransport<UIMessage> {
  const { headers, network } = visitor;
  return way === 'bidi'
    ? visitor.transport
    : new DefaultChatTransport({
        api: `${network.url}/api/chat`,
        headers,
        prepareReconnectToStreamRequest: chats.prepareReconnectToStreamRequest,
      });
}

/** A page with what was loaded of a chat, which has resumed it. */
async function resumed(id: string, way: 'sse' | 'bidi', loaded: StoredChat | undefined) {
  const messages = loaded?.messages ?? [];
  const page = new MemoryChat({ id, messages, transport: transport(way) });
  await page.resumeStream();
  await page.idle();
  return page;
}

test.each(ways)('has the whole answer, over %s', async way => {
  const id = `ended-${way}`;
  const chat = await visitor.listen(id);
  const loaded = await chats.load(id);
  expect(loaded?.status).toBe('running');
  await visitor.stopAfterMore(chat);

  const page = await resumed(id, way, loaded);
  await visitor.expectServed(page, 'stopped');
  expect(page.shown).toEqual(chat.shown);
});

test.each(ways)('has an approval that was given, over %s', async way => {
  const id = `approved-${way}`;
  const chat = visitor.chat(id);
  await chat.say('Send $20 to Sam');
  const loaded = await chats.load(id);
  expect(loaded?.status).toBe('parked');
  await chat.answer(true);

  // What is over comes without the question that led to it.
  const page = await resumed(id, way, loaded);
  expect(page.status).toBe('ready');
  expect(page.outline).toEqual(['process_payment: output-available']);
  expect(page.text).toBe(chat.text);
});

test.each(ways)('has nothing to resume where nothing went on, over %s', async way => {
  const id = `over-${way}`;
  await visitor.chat(id).say('What is the weather in Oslo?');
  await chats.load(id);
  expect(await transport(way).reconnectToStream({ chatId: id })).toBeNull();
});

test('knows no place in a chat that the server does not have', async () => {
  expect(await chats.load('none')).toBeUndefined();
  expect(chats.seqOf('none')).toBeUndefined();
  chats.note('elsewhere', 7);
  expect(chats.seqOf('elsewhere')).toBe(7);
  const request = { api: '/api/chat', id: 'elsewhere' };
  expect(chats.prepareReconnectToStreamRequest(request)).toEqual({
    api: '/api/chat/elsewhere/stream?after=7',
  });
});
