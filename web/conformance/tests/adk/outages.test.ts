/** ADK goes away while people think, and comes back or does not. It has this one for itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Adk } from '../../src/server/adk.ts';
import { Server } from '../../src/server/server.ts';
import { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { pages, twoPages } from '../gemini/pages.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  outline,
  servedAs,
} from '../turn/sound.ts';
import { expectFailed } from './probe.ts';

let adk: Adk;
let server: Server;

beforeAll(async () => {
  // An address where nobody else listens: while ADK is away, no other test gets its port.
  adk = await Adk.start({ host: '127.0.0.2' });
  server = await Server.start({ agent: 'adk', adk: adk.place });
});

afterAll(async () => {
  await server.stop();
  await adk.stop();
});

const sam = { amount: 20, recipient: 'Sam' };

test.each(pages)(
  'it is killed and started again while an approval waits, on version $major over $transport',
  async ({ major, transport }) => {
    const tab = new Tab({ server, major, transport });
    await tab.say('Send $20 to Sam');
    await adk.kill();
    await expectServed(tab, 'parked');
    await adk.begin();
    await tab.approve(tab.call('process_payment'));

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
    expectLastWord(tab, /Sam/);
    await expectServed(tab);
    await expectPaid(tab, [sam]);
  },
);

test.each(twoPages)(
  'it is started again only after the answer, on version $major over $transport',
  async ({ major, transport }) => {
    const tab = new Tab({ server, major, transport });
    await tab.say('Send $20 to Sam');
    await adk.kill();
    const approvalId = tab.call('process_payment').approval?.id ?? '';
    expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);
    expect(await tab.api.chat(tab.id)).toMatchObject({ status: 'running' });
    await adk.begin();

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['process_payment: output-available']]);
    await expectPaid(tab, [sam]);
    await tab.approve(tab.call('process_payment'));
    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    await expectPaid(tab, [sam]);
  },
);

test.each(twoPages)(
  'both are killed while an approval waits, on version $major over $transport',
  async ({ major, transport }) => {
    const tab = new Tab({ server, major, transport });
    await tab.say('Send $20 to Sam');
    await Promise.all([adk.kill(), server.crash()]);
    await adk.begin();
    await tab.approve(tab.call('process_payment'));

    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    await expectPaid(tab, [sam]);
  },
);

test('it is not there when somebody speaks', { timeout: 60_000 }, async () => {
  const tab = new Tab({ server, major: '7' });
  await adk.kill();
  await tab.say('What is the weather in Oslo?');

  await expectSound(tab, { posts: 1, error: /^agent_unavailable: / });
  await expectFailed(tab, 'agent_unavailable', /can't be reached/);
  await adk.begin();
  await tab.regenerate();
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
});

test('it does not come back: nothing ran, and the chat says so', { timeout: 150_000 }, async () => {
  const tab = new Tab({ server, major: '7' });
  await tab.say('Send $20 to Sam');
  await adk.kill();
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);
  const chat = await until(
    'the turn has failed',
    async () => {
      const chat = await tab.api.chat(tab.id);
      return chat?.status === 'failed' && chat;
    },
    { timeoutMs: 100_000 },
  );
  await expectFailed(tab, 'agent_unavailable', /can't be reached/);
  expect(outline(chat.messages)).toEqual([['process_payment: output-error']]);
  await expectPaid(tab, []);

  await adk.begin();
  await tab.regenerate();
  await tab.approve(tab.call('process_payment'));
  await expectServed(tab);
  await expectPaid(tab, [sam]);
});
