/** The journal: who decided what, and the chat played again. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('the journal says who decided what and when, and can be taken along', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await page.getByText('Every entry of this chat appears here').waitFor();
  await visitor.says('Send $20 to Sam');
  await visitor.denies('not today');
  await visitor.reads(/^You denied/);

  const journal = page.getByRole('list', { name: 'The journal of this chat' });
  for (const line of [
    /local said\s*Send \$20 to Sam/,
    /demo called process_payment\s*amount 20 · recipient Sam/,
    /demo asked\s*Send 20 USD to Sam\?/,
    /local denied\s*not today/,
    /demo answered\s*You denied/,
    /demo ended the turn/,
  ]) {
    await journal.getByRole('listitem').filter({ hasText: line }).first().waitFor();
  }
  const saved = page.waitForEvent('download');
  await visitor.clicks('Export as JSON');
  const file = await saved;
  expect(file.suggestedFilename()).toBe(`journal-${visitor.chat}.json`);
  const { chat, entries } = JSON.parse(await readFile(await file.path(), 'utf8'));
  expect(chat).toBe(visitor.chat);
  const served = await (await fetch(`${server.url}/api/chat/${chat}/journal`)).json();
  expect(entries).toEqual(served.entries);
  expect(visitor.complaints).toEqual([]);
});

test.each([7, 6] as const)('a chat plays again, AI SDK %i', async sdk => {
  const server = await startServer({ sdk, pace: 5 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.says('Send $30 to Alice and $40 to Bob');
  await visitor.seesCards('process_payment: asked', 2);
  await visitor.sawTheEnd();
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.sawTheEnd();
  await visitor.denies('not him');
  await visitor.reads(/denied the payment to Bob/);
  await visitor.sawTheEnd();
  const said = await page.getByRole('log').textContent();

  // Entry by entry, with what was not decided yet still open.
  await visitor.clicks('Replay');
  await visitor.clicks('From the start');
  const current = page.locator('[aria-current=step] .stub');
  await current.waitFor({ state: 'detached' });
  expect(await page.getByRole('article').count()).toBe(0);
  const next = async () => {
    const before = (await current.count()) === 0 ? '' : ((await current.textContent()) ?? '');
    await visitor.clicks('Next entry');
    await current.filter({ hasNotText: before || 'nothing yet' }).waitFor();
  };
  await next();
  await visitor.reads('What is the weather in Tokyo?');
  expect(await page.getByText(/18°C/).count()).toBeLessThanOrEqual(1);
  const asked = page.getByRole('log').locator('[aria-label="process_payment: asked"]');
  while ((await asked.count()) < 2) {
    await next();
  }
  await page.locator('[aria-current=step]').getByText('Send 40 USD to Bob?').waitFor();
  await next();
  expect(await asked.count()).toBe(1);

  // Fast, to the end: the same as it was.
  await visitor.clicks('Fast');
  await visitor.clicks('Play');
  await page.getByText('That was all.').waitFor();
  expect(await page.getByRole('log').textContent()).toBe(said);

  // At its own speed, it takes its time; a seek goes anywhere.
  await visitor.clicks('Own speed');
  await visitor.clicks('Play');
  await visitor.reads('What is the weather in Tokyo?');
  await visitor.clicks('Pause');
  await page.getByRole('slider', { name: 'Position' }).press('End');
  await page.getByText('That was all.').waitFor();
  await visitor.clicks('Back to the chat');
  await page.getByLabel('Message', { exact: true }).waitFor();
  expect(await page.getByRole('log').textContent()).toBe(said);
  expect(visitor.complaints).toEqual([]);
});
