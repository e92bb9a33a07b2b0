/** An AG-UI agent that is cut off or killed: a code, what is known is kept, and nothing runs twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
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

const open = (major: '6' | '7') => new Tab({ server, major, transport: 'sse' });

/** The chat, once its turn has failed. */
const failed = (tab: Tab) =>
  until('the turn has failed', async () => {
    const chat = await tab.api.chat(tab.id);
    return chat?.status === 'failed' && chat;
  });

test.each(majors)('in the middle of a text, on version %s', async major => {
  const tab = open(major);
  agent.breakAfter = 'TEXT_MESSAGE_CONTENT';
  await tab.say('What is the weather in Oslo?');
  expect((await failed(tab)).error?.code).toBe('agent_cut_off');

  await tab.say('What is the weather in Oslo?');
  expect((await tab.api.chat(tab.id))?.status).toBe('finished');
});

test.each(majors)('before it says what an approved call did, on version %s', async major => {
  const tab = open(major);
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
});

// It takes seconds to start again.
test.each(majors)(
  'killed while a question is open, on version %s',
  { timeout: 120_000 },
  async major => {
    const tab = open(major);
    await tab.say('Send $20 to Sam');
    await agent.kill();
    await agent.begin();
    await tab.approve(tab.call('process_payment'));
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
    expect((await tab.api.wallet()).payments).toHaveLength(1);
  },
);

test.each(majors)('a page that reloads does not abort it, on version %s', async major => {
  const tab = open(major);
  tab.begin('take your time');
  await until('some words have come', () => tab.text.split(' ').length > 3);
  const before = agent.requests.length;
  await tab.leave();
  await until('the turn has finished', async () => {
    return (await tab.api.chat(tab.id))?.status === 'finished';
  });
  expect(agent.requests.length).toBe(before);
});
