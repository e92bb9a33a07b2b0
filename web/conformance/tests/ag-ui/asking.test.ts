/** Tools that ask people and pages in the middle of their work, or whose result comes later. */
import { expect, test } from 'vitest';
import { agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { open, paid, turned } from './pages.ts';

const served = serve({ store: 'sqlite' });

test.each(agUiVersions)('two questions of a tool come after each other, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  const [first] = page.interrupts;
  await page.answer(true);
  expect(page.interrupts).toHaveLength(1);
  expect(page.interrupts[0]?.id).not.toBe(first?.id);
  expect(page.interrupts[0]?.toolCallId).toBe(first?.toolCallId);
  expect(await paid(page)).toEqual([]);
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
  expect(await paid(page)).toMatchObject([{ amount: 120 }]);
});

test.each(agUiVersions)('a no to the second ends the tool, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  await page.answer(true);
  await page.answer({ approved: false, reason: 'it leaves too early' });

  expect(page.errors).toEqual([]);
  expect(Object.values(page.calls)).toEqual(['Denied: it leaves too early']);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)('the first is answered elsewhere, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  const [first] = page.interrupts;
  expect((await page.api.answer(first?.id ?? '', { approved: true })).status).toBe(200);
  await until('the second is asked', async () => {
    const [open] = await page.api.approvals();
    return open !== undefined && open.approvalId !== first?.id;
  });
  // Its answer is late, and it is shown the second question.
  await page.answer(true);
  expect(page.errors).toEqual([]);
  expect(page.interrupts).toHaveLength(1);
  await page.answer(true);
  expect(await paid(page)).toMatchObject([{ amount: 120 }]);
});

test.each(agUiVersions)(
  'a tool between its questions outlives its server, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Book a flight to Oslo');
    await page.answer(true);
    await served.server.crash();
    await page.answer(true);

    expect(page.errors).toEqual([]);
    expect(await paid(page)).toMatchObject([{ amount: 120 }]);
  },
);

test.each(agUiVersions)(
  'a tool that works has the page run one of its own, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Set the mood for Tokyo');

    expect(page.errors).toEqual([]);
    expect(page.ran).toMatchObject([{ name: 'change_bgm', input: { track: expect.any(Number) } }]);
    expect(Object.keys(page.calls)).toEqual(['0: set_mood', '1: change_bgm']);
    expect((await page.api.chat(page.id))?.status).toBe('finished');
  },
);

test.each(agUiVersions)('a page that could not run a tool says why, on %s', async version => {
  const tools = {
    change_bgm: () => {
      throw new Error('the speaker is off');
    },
  };
  const page = open(served, version, { tools });
  await page.say('play track 1');

  expect(page.errors).toEqual([]);
  expect(page.ran).toHaveLength(1);
  expect(Object.values(page.calls)).toEqual(['the speaker is off']);
  const chat = await page.api.chat(page.id);
  expect(JSON.stringify(chat?.messages)).toContain('the speaker is off');
  expect(page.text).toMatch(/\S/);
});

test.each(agUiVersions)('two pages run a tool, and one output counts, on %s', async version => {
  const page = open(served, version, { tools: {} });
  await page.say('play track 1');
  const pages = ['first', 'second'].map(name =>
    open(served, version, { api: page.api, id: page.id, tools: { change_bgm: () => ({ name }) } }),
  );
  await Promise.all(pages.map(each => each.load()));

  expect(pages.flatMap(({ errors }) => errors)).toEqual([]);
  const [first, second] = pages.map(({ calls }) => Object.values(calls));
  expect(first).toEqual(second);
  expect(first).toHaveLength(1);
});

test.each(agUiVersions)('a tool that no page ran is given up, on %s', async version => {
  const page = open(served, version, { tools: {} });
  await page.say('play track 1');
  await page.say('What is the weather in Oslo?');

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
  const other = open(served, version, { api: page.api, id: page.id, tools: {} });
  await other.load();
  expect(Object.values(other.calls)).toHaveLength(2);
  expect(Object.values(other.calls)).not.toContain(undefined);
});

test.each(agUiVersions)(
  'a result that comes later is there with the next run, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Write a report about tea');
    expect(page.errors).toEqual([]);
    expect(Object.values(page.calls)).toEqual([expect.stringContaining('pending')]);
    await until('the report is shown', async () => {
      const now = await page.api.chat(page.id);
      return now?.status === 'finished' && now.messages.length === 3;
    });
    await page.say('What is the weather in Oslo?');

    expect(page.errors).toEqual([]);
    const other = open(served, version, page);
    await other.load();
    // The client puts what it lacked behind what it has just said.
    expect(page.messages).toHaveLength(other.messages.length);
    expect(page.messages).toEqual(expect.arrayContaining(other.messages));
    expect(page.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
    expect(page.text).toMatch(/tea/);
    expect(page.text).toMatch(/Oslo/);
  },
);

test.each(agUiVersions)('a call that asks follows one that does not, on %s', async version => {
  const page = open(served, version);
  await page.say('first the weather in Tokyo, then pay Ann $5');
  expect(Object.keys(page.calls)).toEqual(['0: get_weather', '1: process_payment']);
  expect(page.interrupts).toMatchObject([{ metadata: { toolName: 'process_payment' } }]);
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(await paid(page)).toMatchObject([{ amount: 5, recipient: 'Ann' }]);
});

test.each(agUiVersions)('a no to the first ends the tool at once, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  await page.answer({ approved: false, reason: 'I stay at home' });

  expect(page.errors).toEqual([]);
  expect(page.interrupts).toEqual([]);
  expect(Object.values(page.calls)).toEqual(['Denied: I stay at home']);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)('both are answered elsewhere, on %s', async version => {
  for (const approved of [true, false]) {
    const page = open(served, version);
    await page.say('Book a flight to Oslo');
    const [first] = page.interrupts;
    expect((await page.api.answer(first?.id ?? '', { approved: true })).status).toBe(200);
    const second = await until('the second is asked', async () => {
      const [asked] = await page.api.approvals();
      return asked?.approvalId !== first?.id && asked;
    });
    expect((await page.api.answer(second.approvalId, { approved })).status).toBe(200);
    await turned(page, 'finished');
    await page.answer(true);

    expect(page.errors).toEqual([]);
    expect(page.interrupts).toEqual([]);
    expect(await paid(page)).toHaveLength(approved ? 1 : 0);
  }
});

test.each(agUiVersions)(
  'a tool that works learns that the page could not, on %s',
  async version => {
    const tools = {
      change_bgm: () => {
        throw new Error('the speaker is off');
      },
    };
    const page = open(served, version, { tools });
    await page.say('Set the mood for Tokyo');

    expect(page.errors).toEqual([]);
    expect(page.ran).toHaveLength(1);
    expect(JSON.stringify(page.messages)).toContain('the speaker is off');
    await turned(page, 'finished');
  },
);

test.each(agUiVersions)('a call of a page that runs nothing stays open, on %s', async version => {
  const page = open(served, version, { tools: {} });
  await page.say('play track 1');

  expect(page.errors).toEqual([]);
  expect(page.calls).toEqual({ '0: change_bgm': undefined });
  await turned(page, 'parked');
});
