/** Questions that nobody answers in time, and turns that are stopped. */
import { expect, test } from 'vitest';
import { agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { open } from './pages.ts';

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
