/** The page's tools and what sends by itself do not care for the transport: here it is plain HTTP. */
import { DefaultChatTransport } from 'ai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clientTools } from '../../src/client-tools.ts';
import { sendAutomaticallyWhen } from '../../src/send-automatically.ts';
import { MemoryChat } from '../support/memory-chat.ts';
import { place, serve, Visitor } from './visitor.ts';

const server = serve();
let visitor: Visitor;
const run = vi.fn((_input: unknown, _context: unknown): unknown => ({ success: true }));
const locate = vi.fn(() => place);

beforeEach(async () => {
  visitor = await Visitor.come(server());
  run.mockClear();
  locate.mockClear();
});

afterEach(async () => {
  await visitor.leave();
});

function open(id: string): MemoryChat {
  const { headers, network } = visitor;
  const tools = clientTools({ change_bgm: run, get_location: locate });
  const transport = new DefaultChatTransport({ api: `${network.url}/api/chat`, headers });
  const chat = new MemoryChat({
    id: `sse-${id}`,
    transport,
    sendAutomaticallyWhen,
    onToolCall: tools.onToolCall,
  });
  tools.bind(chat);
  return chat;
}

test('a tool of the page', async () => {
  const chat = open('music');
  await chat.say('Play track 2');
  await visitor.expectServed(chat);
  expect(run).toHaveBeenCalledExactlyOnceWith({ track: 2 }, expect.anything());
});

test('a tool of the page that fails', async () => {
  run.mockImplementationOnce(() => {
    throw new Error('no speakers');
  });
  const chat = open('silence');
  await chat.say('Play track 2');
  await visitor.expectServed(chat);
  expect(chat.calls).toMatchObject([{ state: 'output-error', errorText: 'no speakers' }]);
});

test('a tool of the page behind an approval', async () => {
  const chat = open('place');
  await chat.say('Where am I?');
  expect(locate).not.toHaveBeenCalled();
  await chat.answer(true);
  await visitor.expectServed(chat);
  expect(locate).toHaveBeenCalledTimes(1);
});

test('a payment and a tool of the page, one denied and one approved', async () => {
  const chat = open('both');
  await chat.say('Pay Ann $5 and tell me where I am');
  const [payment, place] = chat.calls;
  void chat.addToolApprovalResponse({ id: payment?.approval?.id ?? '', approved: false });
  void chat.addToolApprovalResponse({ id: place?.approval?.id ?? '', approved: true });
  await chat.idle();
  await visitor.expectServed(chat);
  expect(chat.outline).toEqual([
    'process_payment: output-denied',
    'get_location: output-available',
  ]);
});
