/** A route that is cut off in the middle: a code, what is known is kept, and nothing runs twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Major, majors } from '../../src/sdk.ts';
import { AiSdkRoute } from '../../src/server/ai-sdk-route.ts';
import { Server } from '../../src/server/server.ts';
import { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';

let route: AiSdkRoute;
let server: Server;

beforeAll(async () => {
  route = await AiSdkRoute.start();
  server = await Server.start({ agent: 'ai-sdk', aiSdk: route.place });
});

afterAll(async () => {
  await server?.stop();
  await route?.stop();
});

type Way = { major: Major; transport: 'sse' | 'socket' };

/** Every version of the client on both transports. */
const ways: Way[] = majors.flatMap(major => [
  { major, transport: 'sse' as const },
  { major, transport: 'socket' as const },
]);

const open = (way: Way) => new Tab({ server, ...way });

test.each(ways)('in the middle of a text, on version $major over $transport', async way => {
  const tab = open(way);
  route.breakAfter = 'text-delta';
  await tab.say('What is the weather in Oslo?');
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('failed');
  expect(chat?.error?.code).toBe('agent_cut_off');

  await tab.say('What is the weather in Oslo?');
  expect((await tab.api.chat(tab.id))?.status).toBe('finished');
});

test.each(ways)(
  'before it says what an approved call did, on version $major over $transport',
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    const before = route.requests.length;
    route.breakAfter = 'start';
    await tab.approve(tab.call('process_payment'));
    const chat = await until('the turn has failed', async () => {
      const chat = await tab.api.chat(tab.id);
      return chat?.status === 'failed' && chat;
    });
    expect(chat.error?.code).toBe('agent_cut_off');
    expect(JSON.stringify(chat.messages)).toContain('The outcome is unknown');
    expect(route.requests.length - before, 'the answer is sent once').toBe(1);
    expect((await tab.api.wallet()).payments.length).toBeLessThanOrEqual(1);

    const paid = (await tab.api.wallet()).payments;
    await tab.say('What is the weather in Oslo?');
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
    expect((await tab.api.wallet()).payments, 'nothing was paid again').toEqual(paid);
  },
);

test.each(ways)('after it has asked, on version $major over $transport', async way => {
  const tab = open(way);
  route.breakAfter = 'tool-approval-request';
  await tab.say('Send $20 to Sam');
  expect((await tab.api.chat(tab.id))?.status).toBe('parked');
  await tab.approve(tab.call('process_payment'));
  expect((await tab.api.chat(tab.id))?.status).toBe('finished');
  expect((await tab.api.wallet()).payments).toHaveLength(1);
});

test.each(ways)(
  'a page that reloads does not abort it, on version $major over $transport',
  async way => {
    const tab = open(way);
    tab.begin('take your time');
    await until('some words have come', () => tab.text.split(' ').length > 3);
    const before = route.requests.length;
    await tab.leave();
    await until('the turn has finished', async () => {
      return (await tab.api.chat(tab.id))?.status === 'finished';
    });
    expect(route.requests.length).toBe(before);
  },
);
