/** Questions that nobody answers in time, and turns that are stopped. */
import { expect, test } from 'vitest';
import { type AgUiPage, agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { open, paid, turned } from './pages.ts';

const served = serve({ approvalTimeout: 1, pace: 1 });

test.each(agUiVersions)('a question that timed out is over, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const [interrupt] = page.interrupts;
  expect(Date.parse(interrupt?.expiresAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
  await until('the turn goes on by itself', async () => {
    return (await page.api.chat(page.id))?.status === 'finished';
  });

  // The client of 0.x takes no run at all once an interrupt has expired: its page loads the chat again.
  const other = open(served, version, page);
  await other.load();
  expect(other.errors).toEqual([]);
  expect(Object.values(other.calls)).toEqual([expect.stringMatching(/timed out/i)]);
  if (version === '1.0.0') {
    const answer = { interruptId: interrupt?.id ?? '', status: 'cancelled' as const };
    await page.run({ resume: [answer] });
    expect(page.errors).toEqual([]);
    expect(page.messages).toEqual(other.messages);
  }
});

const timedOut = expect.stringMatching(/timed out/i);

/** Another page of the same person, which loads the chat. */
async function reopened(version: (typeof agUiVersions)[number], page: AgUiPage): Promise<AgUiPage> {
  const other = open(served, version, page);
  await other.load();
  expect(other.errors).toEqual([]);
  expect(other.interrupts).toEqual([]);
  return other;
}

test.each(agUiVersions)(
  'a tool of the page that nobody allowed is not run, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Where am I?');
    expect(page.interrupts).toHaveLength(1);
    await turned(page, 'finished');

    const other = await reopened(version, page);
    expect([...page.ran, ...other.ran]).toEqual([]);
    expect(Object.values(other.calls)).toEqual([timedOut]);
    expect(other.text).toMatch(/\S/);
  },
);

test.each(agUiVersions)("a tool's second question times out, on %s", async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  await page.answer(true);
  expect(page.interrupts).toHaveLength(1);
  await turned(page, 'finished');

  const other = await reopened(version, page);
  expect(Object.values(other.calls)).toEqual([timedOut]);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)(
  'one question times out beside one that was answered, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Pay Ann $1 and Ben $2');
    const [ann] = page.interrupts;
    expect((await page.api.answer(ann?.id ?? '', { approved: true })).status).toBe(200);
    await turned(page, 'finished');

    const other = await reopened(version, page);
    expect(Object.values(other.calls)).toEqual([expect.stringContaining('Ann'), timedOut]);
    expect(await paid(page)).toMatchObject([{ amount: 1, recipient: 'Ann' }]);
  },
);

test.each(agUiVersions)('a turn that is stopped ends its run, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.split(' ').length > 3);
  expect(await page.api.stop(page.id)).toBe(true);
  await run;

  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual({ type: version === '1.0.0' ? 'cancelled' : 'success' });
  expect((await page.api.chat(page.id))?.status).toBe('stopped');
});
