/** An AG-UI agent whose interrupt asks for data by a schema: a stock page finds a call that it can answer. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Major, majors } from '../../src/sdk.ts';
import type { RunInput } from '../../src/server/ag-ui-agent.ts';
import { Server } from '../../src/server/server.ts';
import { type PageTools, Tab } from '../../src/server/tab.ts';
import { expectLastWord, expectServed, expectSound, outline } from '../turn/sound.ts';

const schema = {
  type: 'object',
  properties: { people: { type: 'integer', minimum: 1 } },
  required: ['people'],
};

const asking = {
  id: 'interrupt-1',
  reason: 'input_required',
  message: 'How many?',
  toolCallId: 'book-1',
  responseSchema: schema,
};

const call = [
  { type: 'TOOL_CALL_START', toolCallId: 'book-1', toolCallName: 'book_table' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'book-1', delta: '{"place":"Sam\'s"}' },
  { type: 'TOOL_CALL_END', toolCallId: 'book-1' },
];

const says = (words: string) => [
  { type: 'TEXT_MESSAGE_START', messageId: 'words', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'words', delta: words },
  { type: 'TEXT_MESSAGE_END', messageId: 'words' },
];

const interrupted = { type: 'interrupt', interrupts: [asking] };

/** What the agent does: it asks, and then does what it was answered. */
function eventsOf({ resume }: RunInput): { events: object[]; outcome: object } {
  const success = { type: 'success' };
  const [answer] = resume ?? [];
  if (answer === undefined) {
    return { events: call, outcome: interrupted };
  }
  if (answer.status !== 'resolved') {
    return { events: says('Another time, then.'), outcome: success };
  }
  const { people } = answer.payload as { people: number };
  const result = {
    type: 'TOOL_CALL_RESULT',
    messageId: 'result-1',
    toolCallId: 'book-1',
    content: `a table for ${people}`,
    role: 'tool',
  };
  return { events: [result, ...says(`A table for ${people} is booked.`)], outcome: success };
}

/** The runs, of all chats. */
const runs: RunInput[] = [];

const agent = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) {
    body += piece;
  }
  const input = JSON.parse(body) as RunInput;
  runs.push(input);
  const { threadId, runId } = input;
  const { events, outcome } = eventsOf(input);
  const all = [
    { type: 'RUN_STARTED', threadId, runId },
    ...events,
    { type: 'RUN_FINISHED', threadId, runId, outcome },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(all.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''));
});

let server: Server;

beforeAll(async () => {
  agent.listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const { port } = agent.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  server = await Server.start({ agent: 'ag-ui', agUi: { url, emulator: '', ledger: '', pace: 0 } });
});

afterAll(async () => {
  await server?.stop();
  agent.close();
});

type Way = { major: Major; transport: 'sse' | 'socket' };

const ways: Way[] = majors.flatMap(major => [
  { major, transport: 'sse' as const },
  { major, transport: 'socket' as const },
]);

const open = (way: Way, tools: PageTools) => new Tab({ server, ...way, tools });

/** The answers that reached the agent from a chat, run by run. */
const answersTo = (tab: Tab) =>
  runs.filter(({ threadId }) => threadId === tab.id).flatMap(({ resume = [] }) => resume);

test.each(ways)('an answer reaches it, on version $major over $transport', async way => {
  const tab = open(way, { ask_user: () => ({ output: { people: 4 } }) });
  await tab.say('Book a table');

  await expectSound(tab, { posts: 2 });
  expect(tab.ran).toMatchObject([
    { toolName: 'ask_user', input: { question: 'How many?', schema } },
  ]);
  expect(answersTo(tab)).toEqual([
    { interruptId: 'interrupt-1', status: 'resolved', payload: { people: 4 } },
  ]);
  expect(outline(tab.messages)).toEqual([
    ['book_table: output-available', 'ask_user: output-available'],
  ]);
  expectLastWord(tab, /for 4 is booked/);
  await expectServed(tab);
});

test.each(ways)(
  'an answer that does not fit does not, and the next one does, on version $major over $transport',
  async way => {
    const tab = open(way, { ask_user: () => ({ output: { people: 0 } }) });
    await tab.say('Book a table');
    expect(tab.page.error?.message).toMatch(/invalid_answer/);
    expect(answersTo(tab)).toEqual([]);
    expect((await tab.api.chat(tab.id))?.status).toBe('parked');

    const again = await tab.another({ tools: { ask_user: () => ({ output: { people: 2 } }) } });
    await again.resume();
    await again.quiet();
    expect(again.page.error).toBeUndefined();
    expect(answersTo(tab)).toEqual([
      { interruptId: 'interrupt-1', status: 'resolved', payload: { people: 2 } },
    ]);
    expectLastWord(again, /for 2 is booked/);
    await expectServed(again);
  },
);

test.each(ways)('who declines cancels it, on version $major over $transport', async way => {
  const tab = open(way, { ask_user: () => ({ errorText: 'Declined: not today' }) });
  await tab.say('Book a table');

  await expectSound(tab, { posts: 2 });
  expect(answersTo(tab)).toMatchObject([{ interruptId: 'interrupt-1', status: 'cancelled' }]);
  expect(tab.call('ask_user')).toMatchObject({ state: 'output-error' });
  expect(outline(tab.messages).flat()).not.toContain('book_table: output-available');
  expectLastWord(tab, /Another time/);
  await expectServed(tab);
});
