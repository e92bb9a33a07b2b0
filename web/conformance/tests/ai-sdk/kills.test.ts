/** A route that is killed: a code, the chat goes on, and nothing runs twice. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Major, majors } from '../../src/sdk.ts';
import type { HoldPlace } from '../../src/server/ai-sdk-process.ts';
import type { ServedChat } from '../../src/server/api.ts';
import { KillableRoute } from '../../src/server/killable-route.ts';
import { Server } from '../../src/server/server.ts';
import { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';

// It takes seconds to start again.
const timeout = 120_000;

let route: KillableRoute;
let servers: Record<Major, Server>;
let isKilled = false;

beforeAll(async () => {
  route = await KillableRoute.start();
  const aiSdk = route.place;
  servers = {
    6: await Server.start({ agent: 'ai-sdk-6', aiSdk }),
    7: await Server.start({ agent: 'ai-sdk', aiSdk }),
  };
}, timeout);

afterAll(async () => {
  await Promise.all(Object.values(servers ?? {}).map(server => server.stop()));
  await route?.stop();
});

beforeEach(async () => {
  if (isKilled) {
    await route.begin();
    isKilled = false;
  }
}, timeout);

async function kill(): Promise<void> {
  await route.kill();
  isKilled = true;
}

async function restart(): Promise<void> {
  await route.begin();
  isKilled = false;
}

type Way = { major: Major; transport: 'sse' | 'socket' };

/** Every version of the client and of the route, on both transports. */
const ways: Way[] = majors.flatMap(major => [
  { major, transport: 'sse' as const },
  { major, transport: 'socket' as const },
]);

const open = ({ major, transport }: Way) => new Tab({ server: servers[major], major, transport });

/** Has the route come to a place in what `act` begins, and kills it there, once the page has what it said. */
async function killAt(
  tab: Tab,
  place: HoldPlace,
  act: () => Promise<unknown>,
): Promise<ServedChat> {
  await route.holdAt(place);
  const acting = act();
  await route.held();
  await until('its words are shown', () => place !== 'text' || tab.text !== '');
  await kill();
  await acting;
  return until('the turn has failed', async () => {
    const chat = await tab.api.chat(tab.id);
    return chat?.status === 'failed' && chat;
  });
}

/** The chat goes on with a route that is there again. */
async function expectGoesOn(tab: Tab): Promise<void> {
  await restart();
  await tab.say('What is the weather in Oslo?');
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('finished');
  expect(tab.text).toMatch(/Oslo/);
}

const paid = async (tab: Tab) => (await tab.api.wallet()).payments;

test.each(ways)('before it answers, on version $major over $transport', { timeout }, async way => {
  const tab = open(way);
  const chat = await killAt(tab, 'request', () => tab.say('What is the weather in Oslo?'));
  expect(chat.error?.code).toBe('agent_cut_off');
  await expectGoesOn(tab);
});

test.each(ways)(
  'in the middle of its text, on version $major over $transport',
  { timeout },
  async way => {
    const tab = open(way);
    const chat = await killAt(tab, 'text', () => tab.say('take your time'));
    expect(chat.error?.code).toBe('agent_cut_off');
    const [, answer] = chat.messages;
    expect(JSON.stringify(answer), 'what it said is kept').toMatch(/"text":"[^"]/);
    await expectGoesOn(tab);
  },
);

test.each(ways)(
  'while an approved tool runs, on version $major over $transport',
  { timeout },
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    const chat = await killAt(tab, 'tool', () => tab.approve(tab.call('process_payment')));
    expect(chat.error?.code).toBe('agent_cut_off');
    expect(JSON.stringify(chat.messages)).toContain('The outcome is unknown');
    expect(await paid(tab)).toHaveLength(1);
    await expectGoesOn(tab);
    expect(await paid(tab), 'nothing was paid again').toHaveLength(1);
  },
);

test.each(ways)(
  'while an approval is open, and is back, on version $major over $transport',
  { timeout },
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    await kill();
    await restart();
    await tab.approve(tab.call('process_payment'));
    expect((await tab.api.chat(tab.id))?.status).toBe('finished');
    expect(await paid(tab)).toHaveLength(1);
  },
);

test.each(ways)(
  'while an approval is open, and stays away, on version $major over $transport',
  { timeout },
  async way => {
    const tab = open(way);
    await tab.say('Send $20 to Sam');
    await kill();
    await tab.approve(tab.call('process_payment'));
    const chat = await until('the turn has failed', async () => {
      const chat = await tab.api.chat(tab.id);
      return chat?.status === 'failed' && chat;
    });
    expect(chat.error?.code).toBe('agent_unavailable');
    expect(JSON.stringify(chat.messages)).toContain('It did not run');
    await expectGoesOn(tab);
    expect(await paid(tab)).toEqual([]);
  },
);
