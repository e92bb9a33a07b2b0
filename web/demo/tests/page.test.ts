/** The page itself: how it looks, what it weighs, and whether everybody can use it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import AxeBuilder from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pages } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

const desktop = { width: 1280, height: 860 };
const phone = { viewport: { width: 380, height: 780 }, isMobile: true, hasTouch: true };

const looks: Record<string, BrowserContextOptions> = {
  'desktop-light': { colorScheme: 'light', viewport: desktop },
  'desktop-dark': { colorScheme: 'dark', viewport: desktop },
  'phone-light': { colorScheme: 'light', ...phone },
  'phone-dark': { colorScheme: 'dark', ...phone },
};

withBrowser();

/** How much of the page has moved by itself so far, as browsers measure it. */
const movement = () =>
  new Promise<number>(resolve => {
    new PerformanceObserver(list => {
      const shifts = list.getEntries() as (PerformanceEntry & { value?: number })[];
      resolve(shifts.reduce((sum, shift) => sum + (shift.value ?? 0), 0));
    }).observe({ type: 'layout-shift', buffered: true });
    // Where nothing has moved, nothing is reported.
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
  });

/** What axe finds that keeps somebody out. */
async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: page as never }).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`);
}

test.each(Object.entries(looks))('shows itself well, to everybody: %s', async (name, look) => {
  const server = await startServer({ approvalTimeout: 3_600 });
  const visitor = await Visitor.at(server.url, look);
  const { page } = visitor;
  const isPhone = name.startsWith('phone');
  const isLookedThrough = name === 'desktop-light' || name === 'phone-dark';
  const stands = async (what: string) => {
    await visitor.photographs(`${what}-${name}`);
    // Half of the looks in every state, the others where colours and places differ most.
    if (isLookedThrough || ['asked', 'journal'].includes(what)) {
      expect(await barriers(page), what).toEqual([]);
    }
  };

  await page.getByRole('heading', { level: 1, name: 'A turn is not a request' }).waitFor();
  await page.getByText('Server is up', { exact: true }).waitFor({ state: 'attached' });
  await visitor.sees('$1,000');
  expect(await page.evaluate(movement), 'nothing moves while it opens').toBeLessThan(0.001);
  await stands('empty');

  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.says('Send $30 to Alice and $40 to Bob');
  await visitor.seesCards('process_payment: asked', 2);
  await page.getByRole('heading', { name: 'Send 40 USD to Bob?' }).waitFor();
  await visitor.sawTheEnd();
  await stands('asked');

  await page.getByRole('button', { name: 'Inbox, 2 waiting' }).click();
  await page.getByRole('heading', { name: 'What waits for you' }).waitFor();
  await stands('inbox');
  if (isPhone) {
    await visitor.clicks('Close');
  }

  await page.getByRole('log').getByRole('button', { name: 'Edit' }).first().click();
  await stands('edited');
  await visitor.clicks('Back');
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await page.getByRole('log').getByRole('button', { name: 'Deny' }).click();
  await stands('denying');
  await visitor.clicks('Deny it');
  await visitor.seesCards('process_payment: denied');
  await visitor.reads(/denied the payment/);
  await visitor.says('Play track 2');
  await visitor.seesCards('change_bgm: done');
  await visitor.reads(/playing/);
  await visitor.sawTheEnd();
  await stands('finished');

  await page.getByRole('button', { name: 'Journal', exact: true }).click();
  await page.getByRole('heading', { name: 'The journal of this chat' }).waitFor();
  await stands('journal');
  await visitor.clicks('Replay');
  await page.getByRole('button', { name: 'Next entry' }).click();
  await page.getByRole('button', { name: 'Next entry' }).click();
  await stands('replay');
  await visitor.clicks('Back to the chat');
  await visitor.says('Fail with rate limit');
  await page.getByRole('alert').waitFor();
  await stands('problem');
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByText('Appearance').waitFor();
  await stands('settings');

  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, 'nothing sticks out at the side').toBeLessThanOrEqual(0);
  expect(visitor.complaints).toEqual([]);
  expect(visitor.foreign, 'everything comes from the binary').toEqual([]);
});

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
  await page.getByRole('log').getByRole('button', { name: '承認' }).click();
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
