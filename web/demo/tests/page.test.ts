/** The page itself: how it looks, and what it says of the server. */
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { expect, test } from 'vitest';
import { projectRoot } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

const desktop = { width: 1280, height: 900 };
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

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

const lightSays = (visitor: Visitor, words: string) =>
  visitor.page.getByRole('status').getByText(words, { exact: true }).waitFor();

test.each(Object.entries(looks))('shows itself well: %s', async (name, look) => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, look);
  const { page } = visitor;
  const photographs = (what: string) =>
    page.screenshot({ path: join(projectRoot, 'artifacts', `${what}-${name}.png`) });

  await page.getByRole('heading', { level: 1, name: 'A turn is not a request' }).waitFor();
  await lightSays(visitor, 'Server is up');
  await visitor.sees('$1,000');
  await photographs('empty');
  expect(await page.evaluate(movement), 'nothing moves while it opens').toBe(0);

  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.says('Send $30 to Alice and $40 to Bob');
  await visitor.seesCards('process_payment: asked', 2);
  await page.getByRole('heading', { name: 'Send 40 USD to Bob?' }).waitFor();
  await visitor.sawTheEnd();
  await photographs('asked');

  const cards = visitor.cards('process_payment: asked');
  await cards.filter({ hasText: 'Alice' }).getByText('Approve').click();
  await cards.filter({ hasText: 'Bob' }).getByText('Deny').click();
  await visitor.seesCards('process_payment: done');
  await visitor.reads(/denied/);
  await visitor.says('Play track 2');
  await visitor.seesCards('change_bgm: done');
  await visitor.reads(/playing/);
  await visitor.sawTheEnd();
  await photographs('finished');

  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, 'nothing sticks out at the side').toBeLessThanOrEqual(0);
  expect(visitor.complaints).toEqual([]);
  expect(visitor.foreign, 'everything comes from the binary').toEqual([]);
});

test('explains itself when asked', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { viewport: desktop });

  await visitor.page.getByText('How it works').click();
  await visitor.page.getByRole('figure').waitFor();
  await visitor.photographs('how-it-works');
});

test('sees the server go away', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  await lightSays(visitor, 'Server is up');
  expect(visitor.complaints).toEqual([]);

  expect(await server.stop()).toBe(0);
  await lightSays(visitor, 'Server is away');

  await visitor.says('Send $20 to Sam');
  await visitor.page.getByRole('alert').getByText('The server can’t be reached.').waitFor();
});
