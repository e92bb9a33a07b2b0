/** Questions and runs outlive the server. */
import { expect, test } from 'vitest';
import { type AgUiPage, agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { open, paid } from './pages.ts';

const served = serve();

test.each(agUiVersions)(
  'a question is answered after its server was killed, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Send $20 to Sam');
    await served.server.crash();
    await page.answer(true);

    expect(page.errors).toEqual([]);
    expect(page.text).toMatch(/Sam/);
    expect((await page.api.wallet()).payments).toMatchObject([{ amount: 20, recipient: 'Sam' }]);
  },
);

test.each(agUiVersions)('a tool of the page is waited for, on %s', async version => {
  const page = open(served, version, { tools: {} });
  await page.say('play track 1');
  expect(page.errors).toEqual([]);
  await served.server.crash();
  // It has the tool, and finds the call without a result.
  const other = open(served, version, page);
  await other.load();
  expect(other.errors).toEqual([]);
  expect(other.ran).toEqual([{ name: 'change_bgm', input: { track: 1 } }]);
  expect((await page.api.chat(page.id))?.status).toBe('finished');
});

test.each(agUiVersions)(
  'a no counts after it, as one from elsewhere does, on %s',
  async version => {
    for (const answer of [
      (page: AgUiPage) => page.answer(false),
      async (page: AgUiPage) => {
        await page.api.answer(page.interrupts[0]?.id ?? '', { approved: false });
        await page.answer(false);
      },
    ]) {
      const page = open(served, version);
      await page.say('Send $20 to Sam');
      await served.server.crash();
      await answer(page);

      expect(page.errors).toEqual([]);
      expect(Object.values(page.calls)[0]).toMatch(/^Denied/);
      expect(await paid(page)).toEqual([]);
    }
  },
);

test.each(agUiVersions)('a chat that has ended is still there, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  await page.answer(true);
  await served.server.crash();
  const other = open(served, version, page);
  await other.load();

  expect(other.errors).toEqual([]);
  expect(other.messages).toEqual(page.messages);
});

test.each(agUiVersions)('a text that was being said is said again, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.length > 3);
  await served.server.crash();
  await run;
  const other = open(served, version, page);
  await other.load();

  expect(other.errors).toEqual([]);
  expect(other.outcome).toEqual({ type: 'success' });
  expect(other.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});
