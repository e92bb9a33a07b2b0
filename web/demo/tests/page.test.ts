/** The page in a real browser, served by the real binary. */
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { projectRoot, Server } from './server.ts';

const looks: Record<string, BrowserContextOptions> = {
  'desktop-light': { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  'desktop-dark': { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  'phone-light': { colorScheme: 'light', viewport: { width: 360, height: 740 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
};

let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
});

afterAll(() => browser?.close());

async function start(): Promise<Server> {
  const server = await Server.start();
  onTestFinished(async () => {
    await server.stop();
  });
  return server;
}

/** Opens the page, and gathers whatever the browser complains of. */
async function open(url: string, look: BrowserContextOptions = {}) {
  const context = await browser.newContext(look);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(message.text());
    }
  });
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('requestfailed', request => complaints.push(`failed: ${request.url()}`));
  const foreign: string[] = [];
  page.on('request', request => {
    if (!request.url().startsWith(url)) {
      foreign.push(request.url());
    }
  });
  await page.goto(url);
  return { page, complaints, foreign };
}

const lightSays = (page: Page, words: string) =>
  page.getByRole('status').getByText(words, { exact: true }).waitFor();

test.each(Object.entries(looks))('shows itself well: %s', async (name, look) => {
  const server = await start();
  const { page, complaints, foreign } = await open(server.url, look);

  await page.getByRole('heading', { level: 1, name: 'A turn is not a request' }).waitFor();
  await lightSays(page, 'Server is up');
  await page.screenshot({
    path: join(projectRoot, 'artifacts', `page-${name}.png`),
    fullPage: true,
  });

  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, 'nothing sticks out at the side').toBe(0);
  expect(complaints).toEqual([]);
  expect(foreign, 'everything comes from the binary').toEqual([]);
});

test('sees the server go away', async () => {
  const server = await start();
  const { page, complaints } = await open(server.url);
  await lightSays(page, 'Server is up');
  expect(complaints).toEqual([]);

  expect(await server.stop()).toBe(0);
  await lightSays(page, 'Server is away');
});
