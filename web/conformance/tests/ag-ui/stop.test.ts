/** Turns that are stopped while a page or a person is at work. */
import { expect, test } from 'vitest';
import { type AgUiPage, agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { cancelled, open, paid, turned } from './pages.ts';

const served = serve({ pace: 1 });

const stopped = (page: AgUiPage) => ({
  type: page.version === '1.0.0' ? 'cancelled' : 'success',
});

test.each(agUiVersions)('its question is denied then, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  expect(await page.api.stop(page.id)).toBe(true);
  await page.run({ resume: cancelled(page) });

  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual(stopped(page));
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)('the output of a tool of the page comes too late, on %s', async version => {
  const page = open(served, version, { tools: {} });
  await page.say('play track 1');
  const call = page.messages.flatMap(({ toolCalls = [] }) => toolCalls)[0];
  expect(await page.api.stop(page.id)).toBe(true);
  const output = { id: 'output', role: 'tool', toolCallId: call?.id ?? '', content: '{}' };
  page.replace([...page.messages, output]);
  await page.run();

  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual(stopped(page));
  expect(Object.values(page.calls), 'its own output is not what counts').not.toEqual(['{}']);
});

test.each(agUiVersions)('a tool is in the middle of its work, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  await page.answer(true);
  expect(await page.api.stop(page.id)).toBe(true);
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(page.interrupts).toEqual([]);
  expect(Object.values(page.calls)).toEqual([expect.stringMatching(/\S/)]);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)(
  'right after a yes, the chat says what became of the money, on %s',
  async version => {
    for (let round = 0; round < 4; round++) {
      const page = open(served, version);
      await page.say('Send $20 to Sam');
      const [interrupt] = page.interrupts;
      const answer = { approved: true };
      expect((await page.api.answer(interrupt?.id ?? '', answer)).status).toBe(200);
      await page.api.stop(page.id);
      await until('the turn has ended', async () => {
        const status = (await page.api.chat(page.id))?.status;
        return status === 'stopped' || status === 'finished';
      });
      const other = open(served, version, page);
      await other.load();
      const [said = ''] = Object.values(other.calls);
      const payments = await paid(page);
      expect(payments.length).toBeLessThanOrEqual(1);
      if (/transaction/i.test(said)) {
        expect(payments).toHaveLength(1);
      } else if (!/unknown/i.test(said)) {
        expect(payments).toEqual([]);
      }
    }
  },
);

test.each(agUiVersions)("beside the page's own, on %s", async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.split(' ').length > 3);
  page.leave();
  expect(await page.api.stop(page.id)).toBe(true);
  await run;

  await turned(page, 'stopped');
  const other = open(served, version, page);
  await other.load();
  expect(other.errors).toEqual([]);
  expect(other.outcome).toEqual(stopped(page));
  expect(other.text.startsWith(page.text)).toBe(true);
});
