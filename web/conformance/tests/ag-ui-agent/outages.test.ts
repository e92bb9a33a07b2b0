/** An AG-UI agent that is cut off or killed: a code, what is known is kept, and nothing runs twice. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Major, majors } from '../../src/sdk.ts';
import { AgUiAgent } from '../../src/server/ag-ui-agent.ts';
import { Server } from '../../src/server/server.ts';
import { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';

let agent: AgUiAgent;
let server: Server;

beforeAll(async () => {
  agent = await AgUiAgent.start();
  server = await Server.start({ agent: 'ag-ui', agUi: agent.place });
});

afterAll(async () => {
  await server?.stop();
  await agent?.stop();
});

// A test that failed may have left it dead.
beforeEach(() => agent.revive(), 120_000);

type Way = { major: Major; transport: 'sse' | 'socket' };

/** Every version of the client on both transports. */
const ways: Way[] = majors.flatMap(major => [
  { major, transport: 'sse' as const },
  { major, transport: 'socket' as const },
]);

const open = (way: Way) => new Tab({ server, ...way });

/** The chat, once its turn has failed. */
const failed = (tab: Tab) =>
  until('the turn has failed', async () => {
    const chat = await tab.api.chat(tab.id);
    return chat?.status === 'failed' && chat;
  });

test.each(ways)('in the middle of a text, on version $major over $transport', async way => {
  const tab = open(way);
  agent.breakAfter = 'TEXT_MESSAGE_CONTENT';
  await tab.say('What is the weather in Oslo?');
  expect((await failed(tab)).error?.code).toBe('agent_cut_off');

  await tab.say('What is the weather in Oslo?');
  expect((await tab.api.chat(tab.id))?.status).toBe('finished');
});

test.each(ways)(
  'before it says what an approved call did, on version $major over $transport',
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    const before = agent.requests.length;
    agent.breakAfter = 'RUN_STARTED';
    await tab.approve(tab.call('process_payment'));
    const chat = await failed(tab);
    expect(chat.error?.code).toBe('agent_cut_off');
    expect(JSON.stringify(chat.messages)).toContain('The outcome is unknown');
    expect(agent.requests.length - before, 'the answer is sent once').toBe(1);
    expect((await tab.api.wallet()).payments.length).toBeLessThanOrEqual(1);

    await tab.say('What is the weather in Oslo?');
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
    const resumed = agent.requests.slice(before).flatMap(({ resume = [] }) => resume);
    expect(
      resumed.filter(({ status }) => status === 'resolved'),
      'and not again',
    ).toHaveLength(1);
    expect((await tab.api.wallet()).payments.length).toBeLessThanOrEqual(1);
  },
);

// It takes seconds to start again.
test.each(ways)(
  'killed in the middle of a text, on version $major over $transport',
  { timeout: 120_000 },
  async way => {
    const tab = open(way);
    agent.breakAfter = 'TEXT_MESSAGE_CONTENT';
    agent.isKilledThen = true;
    await tab.say('What is the weather in Oslo?');
    expect((await failed(tab)).error?.code).toBe('agent_cut_off');
    await agent.revive();
    await tab.say('What is the weather in Oslo?');
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
  },
);

test.each(ways)(
  'killed with an answer that it may have acted on, on version $major over $transport',
  { timeout: 120_000 },
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    agent.breakAfter = 'RUN_STARTED';
    agent.isKilledThen = true;
    await tab.approve(tab.call('process_payment'));
    const chat = await failed(tab);
    expect(chat.error?.code).toBe('agent_cut_off');
    expect(JSON.stringify(chat.messages)).toContain('The outcome is unknown');
    const paid = (await tab.api.wallet()).payments;
    expect(paid.length).toBeLessThanOrEqual(1);
    await agent.revive();
    await tab.say('What is the weather in Oslo?');
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
    expect((await tab.api.wallet()).payments, 'nothing was paid again').toEqual(paid);
  },
);

test.each(ways)(
  'killed while a question is open, on version $major over $transport',
  { timeout: 120_000 },
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    await agent.kill();
    await agent.revive();
    await tab.approve(tab.call('process_payment'));
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
    expect((await tab.api.wallet()).payments).toHaveLength(1);
  },
);

test.each(ways)(
  'a page that reloads does not abort it, on version $major over $transport',
  async way => {
    const tab = open(way);
    tab.begin('take your time');
    await until('some words have come', () => tab.text.split(' ').length > 3);
    const before = agent.requests.length;
    await tab.leave();
    await until('the turn has finished', async () => {
      return (await tab.api.chat(tab.id))?.status === 'finished';
    });
    expect(agent.requests.length).toBe(before);
  },
);
