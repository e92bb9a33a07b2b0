/** Pages that come back in the middle of something, and find what was there. */
import { expect, test } from 'vitest';
import { type AgUiPage, type AgUiVersion, agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { open, paid, turned } from './pages.ts';

const served = serve({ pace: 1 });

/** Another page of the same person, which loads the chat. */
async function reopened(version: AgUiVersion, page: AgUiPage): Promise<AgUiPage> {
  const other = open(served, version, page);
  await other.load();
  expect(other.errors).toEqual([]);
  return other;
}

test.each(agUiVersions)(
  'two readers in the middle of a tool see the same, on %s',
  async version => {
    const page = open(served, version);
    const run = page.say('first the weather in Tokyo, then pay Ann $5');
    await until('a call is shown', () => Object.keys(page.calls).length > 0);
    const others = await Promise.all([reopened(version, page), reopened(version, page)]);
    await run;

    expect(page.errors).toEqual([]);
    for (const other of others) {
      expect(other.calls).toEqual(page.calls);
      expect(other.text).toBe(page.text);
      expect(other.interrupts).toEqual(page.interrupts);
    }
    await others[0]?.answer(true);
    expect(await paid(page)).toMatchObject([{ amount: 5, recipient: 'Ann' }]);
  },
);

test.each(agUiVersions)('any number of readers of a text see the same, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.split(' ').length > 3);
  const others = await Promise.all([1, 2, 3].map(() => reopened(version, page)));
  await run;
  expect(new Set([page, ...others].map(({ text }) => text)).size).toBe(1);
});

test.each(agUiVersions)('a text goes on for the page that left it, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.split(' ').length > 3);
  page.leave();
  await run;
  page.dismissErrors();
  await page.load();

  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual({ type: 'success' });
  expect(page.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test.each(agUiVersions)('a tool waits for a page, on %s', async version => {
  const page = open(served, version, { tools: {} });
  await page.say('Set the mood for Tokyo');
  await turned(page, 'parked');
  const other = open(served, version, { api: page.api, id: page.id });
  await other.load();

  expect(other.errors).toEqual([]);
  expect(other.ran).toMatchObject([{ name: 'change_bgm' }]);
  await turned(page, 'finished');
});

test.each(agUiVersions)('a tool is between its questions, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  await page.answer(true);
  const other = await reopened(version, page);
  expect(other.interrupts).toEqual(page.interrupts);
  await other.answer(true);

  expect(other.errors).toEqual([]);
  expect(await paid(page)).toMatchObject([{ amount: 120 }]);
});

test.each(agUiVersions)('one of two questions is settled, on %s', async version => {
  const page = open(served, version);
  await page.say('Pay Ann $1 and Ben $2');
  const [ann, ben] = page.interrupts;
  expect((await page.api.answer(ann?.id ?? '', { approved: true })).status).toBe(200);
  const other = await reopened(version, page);
  expect(other.interrupts).toEqual([ben]);
  await other.answer(false);

  expect(other.errors).toEqual([]);
  expect(await paid(page)).toMatchObject([{ amount: 1, recipient: 'Ann' }]);
});

test.each(agUiVersions)('a question for data is found again, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a table');
  const other = await reopened(version, page);
  expect(other.interrupts).toEqual(page.interrupts);
  expect(other.interrupts).toMatchObject([{ reason: 'input_required' }]);
});

test.each(agUiVersions)('a page left before the question is asked, on %s', async version => {
  const page = open(served, version);
  const run = page.say('Send $20 to Sam');
  await until('the run has begun', () => (page.events[0]?.length ?? 0) > 0);
  page.leave();
  await run;
  await turned(page, 'parked');
  const other = await reopened(version, page);
  await other.answer(true);

  expect(other.errors).toEqual([]);
  expect(await paid(page)).toHaveLength(1);
});

test.each(agUiVersions)('a page left after its answer, which counts, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const run = page.answer(true);
  await until('the answer was received', () => (page.events[1]?.length ?? 0) > 0);
  page.leave();
  await run;
  await turned(page, 'finished');
  expect(await paid(page)).toHaveLength(1);
});
