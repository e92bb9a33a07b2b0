/** Questions and runs outlive the server. */
import { expect, test } from 'vitest';
import { agUiVersions } from '../../src/ag-ui-page.ts';
import { serve } from '../turn/served.ts';
import { open } from './pages.ts';

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
