/** The page itself: how it looks, what it weighs, and whether everybody can use it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { barriers, movement } from './looks.ts';
import { pages } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

const desktop = { width: 1280, height: 860 };

withBrowser();

test('speaks Japanese, to those whose browser does, or who choose it', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, {
    locale: 'ja-JP',
    viewport: desktop,
    colorScheme: 'light',
  });
  const { page } = visitor;

  await page.getByRole('heading', { name: 'ターンはリクエストではない' }).waitFor();
  await visitor.photographs('empty-ja');
  await visitor.clicks('花子さんに50ドル送金して 先に確認します');
  await visitor.seesCards('process_payment: 確認待ち');
  await visitor.photographs('asked-ja');
  expect(await barriers(page)).toEqual([]);
  await visitor.consents(page.getByRole('log').getByRole('button', { name: '承認' }));
  await visitor.seesCards('process_payment: 完了');
  await page.locator('.agent .prose[lang=ja]').waitFor();
  await page.getByText('$950').waitFor();
  await visitor.photographs('finished-ja');

  await visitor.clicks('設定');
  await visitor.clicks('English');
  await page.getByRole('button', { name: 'New chat' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('en');
  await visitor.clicks('Dark');
  await page.reload();
  await page.getByRole('button', { name: 'New chat' }).waitFor();
  expect(await page.locator('html').evaluate(html => html.style.colorScheme)).toBe('dark');
  expect(visitor.complaints).toEqual([]);
});

test('nothing jumps while an answer comes', async () => {
  const server = await startServer({ pace: 10 });
  const visitor = await Visitor.at(server.url, { viewport: desktop });

  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.sawTheEnd();
  await visitor.says('Hello');
  await visitor.reads(/Try ".*"\.$/);
  await visitor.sawTheEnd();
  // What a person sets off by themselves is theirs; the rest must stay where it is.
  expect(await visitor.page.evaluate(movement)).toBeLessThan(0.02);
});

test.each([7, 6] as const)('the first load is light, with AI SDK %i', async sdk => {
  const server = await startServer({ sdk });
  const scripts: string[] = [];
  const visitor = await Visitor.at('about:blank');
  visitor.page.on('response', response => {
    const { pathname } = new URL(response.url());
    if (pathname.endsWith('.js')) {
      scripts.push(pathname);
    }
  });
  await visitor.page.goto(server.url);
  await visitor.page.getByText('Server is up', { exact: true }).waitFor();
  await visitor.sees('$1,000');
  const bytes = scripts.map(path => gzipSync(readFileSync(join(pages[sdk], path))).length);
  const sum = bytes.reduce((all, one) => all + one, 0);
  expect(scripts.length).toBeGreaterThan(0);
  expect(sum, `${scripts.join(', ')}`).toBeLessThan(300_000);
  expect(readdirSync(join(pages[sdk], 'assets')).length).toBeGreaterThan(scripts.length);
});

test('sees the server go away', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  await visitor.page.getByText('Server is up', { exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);

  expect(await server.stop()).toBe(0);
  await visitor.says('Send $20 to Sam');
  await visitor.page
    .getByRole('alert')
    .getByText(/^The server can’t be reached\./)
    .waitFor();
  await visitor.page.getByText('Server is away', { exact: true }).waitFor();
});
