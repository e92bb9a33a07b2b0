/** Answers from elsewhere, two pages at once, and questions that are gone when a page answers them. */
import { expect, test } from 'vitest';
import { agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { open, paid, turned } from './pages.ts';

const served = serve();

test.each(agUiVersions)('a page says yes to what was denied, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const id = page.interrupts[0]?.id ?? '';
  await page.api.answer(id, { approved: false, reason: 'the boss says no' });
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(Object.values(page.calls)).toEqual(['Denied: the boss says no']);
  expect(page.text).toMatch(/the boss says no/);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)('two pages answer otherwise at once, on %s', async version => {
  for (let round = 0; round < 4; round++) {
    const page = open(served, version);
    await page.say('Send $20 to Sam');
    const other = open(served, version, page);
    await other.load();
    await Promise.all([page.answer(true), other.answer(false)]);

    expect([...page.errors, ...other.errors]).toEqual([]);
    await until('the turn has finished', async () => {
      return (await page.api.chat(page.id))?.status === 'finished';
    });
    const [here, there] = [Object.values(page.calls), Object.values(other.calls)];
    expect(here, 'both are shown the same').toEqual(there);
    const isPaid = !here[0]?.startsWith('Denied');
    expect(await paid(page)).toHaveLength(isPaid ? 1 : 0);
  }
});

test.each(agUiVersions)('what another page has edited is asked no more, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const other = open(served, version, page);
  await other.load();
  const [said] = other.messages;
  const edited = { id: said?.id ?? '', role: 'user', content: 'Send $2 to Sam' };
  const old = other.interrupts[0]?.id ?? '';
  other.replace([edited]);
  const resume = [{ interruptId: old, status: 'cancelled' as const }];
  await other.run({ forwardedProps: { messageId: said?.id }, resume });
  expect(other.errors).toEqual([]);
  expect(other.interrupts).toMatchObject([{ metadata: { input: { amount: 2 } } }]);

  await page.answer(true);
  expect(page.errors).toEqual([]);
  expect(Object.values(page.calls)[0]).toMatch(/^Denied/);
  expect(await page.api.approvals(), 'the new question is open').toHaveLength(1);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)('what was stopped with its question runs nothing, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  expect(await page.api.stop(page.id)).toBe(true);
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual({ type: version === '1.0.0' ? 'cancelled' : 'success' });
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)(
  'a tool of the page that is approved elsewhere is run by a page that comes back, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Where am I?');
    const id = page.interrupts[0]?.id ?? '';
    expect((await page.api.answer(id, { approved: true })).status).toBe(200);
    const other = open(served, version, page);
    await other.load();

    expect(other.errors).toEqual([]);
    expect(other.ran).toMatchObject([{ name: 'get_location' }]);
    expect(other.text).toMatch(/Oslo/);
  },
);

test.each(agUiVersions)('a page that comes into a text gets all of it, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.length > 3);
  const other = open(served, version, page);
  await Promise.all([run, other.load()]);

  expect([...page.errors, ...other.errors]).toEqual([]);
  expect(other.text).toBe(page.text);
  expect(other.outcome).toEqual({ type: 'success' });
});

test.each(agUiVersions)('the turn goes on though no run is open, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const id = page.interrupts[0]?.id ?? '';
  expect((await page.api.answer(id, { approved: true })).status).toBe(200);
  await turned(page, 'finished');
  expect(await paid(page)).toHaveLength(1);
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Sam/);
  expect(await paid(page)).toHaveLength(1);
});

test.each(agUiVersions)('a page says no to what was approved, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const id = page.interrupts[0]?.id ?? '';
  expect((await page.api.answer(id, { approved: true })).status).toBe(200);
  await page.answer(false);

  expect(page.errors).toEqual([]);
  expect(Object.values(page.calls)[0]).not.toMatch(/^Denied/);
  expect(await paid(page)).toHaveLength(1);
});

test.each(agUiVersions)('a page and somebody elsewhere answer at once, on %s', async version => {
  for (let round = 0; round < 4; round++) {
    const page = open(served, version);
    await page.say('Send $20 to Sam');
    const id = page.interrupts[0]?.id ?? '';
    const [{ status, body }] = await Promise.all([
      page.api.answer(id, { approved: false }),
      page.answer(true),
    ]);

    expect(page.errors).toEqual([]);
    await turned(page, 'finished');
    const isDenied = status === 200;
    expect(isDenied || 'decision' in body, 'the loser gets the decision').toBe(true);
    expect(Object.values(page.calls)[0]?.startsWith('Denied')).toBe(isDenied);
    expect(await paid(page)).toHaveLength(isDenied ? 0 : 1);
  }
});
