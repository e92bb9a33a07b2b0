/** Somebody who opens the page in a real browser and uses it as people do. */
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { projectRoot, Server } from './server.ts';

let browser: Browser;

/** Gives the tests of a file a browser. */
export function withBrowser(): void {
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
        // Sound is made and goes nowhere: a machine for tests may have no ears.
        '--mute-audio',
      ],
    });
  });
  afterAll(() => browser?.close());
}

/** A server of the test's own, so that nobody else spends from its wallet. */
export async function startServer(options?: { pace: number }): Promise<Server> {
  const server = await Server.start(options);
  onTestFinished(async () => {
    await server.stop();
  });
  return server;
}

export class Visitor {
  /** What the browser complained of. */
  readonly complaints: string[] = [];
  /** What the page asked of anybody else than the server. */
  readonly foreign: string[] = [];

  private constructor(readonly page: Page) {}

  /** Opens the page. */
  static async at(url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    // Far below vitest's own patience, so that what was waited for is named.
    page.setDefaultTimeout(15_000);
    const visitor = new Visitor(page);
    visitor.listen(url);
    await page.goto(url);
    return visitor;
  }

  private listen(url: string): void {
    this.page.on('console', message => {
      if (message.type() === 'error' || message.type() === 'warning') {
        this.complaints.push(message.text());
      }
    });
    this.page.on('pageerror', error => this.complaints.push(String(error)));
    this.page.on('requestfailed', request => {
      // What the page itself gives up, when it is left, has not failed.
      const why = request.failure()?.errorText ?? 'unknown';
      if (why !== 'net::ERR_ABORTED') {
        this.complaints.push(`${why}: ${request.url()}`);
      }
    });
    this.page.on('request', request => {
      if (!request.url().startsWith(url)) {
        this.foreign.push(request.url());
      }
    });
  }

  /** Writes a message and sends it with the keyboard. */
  async says(text: string): Promise<void> {
    await this.sawTheEnd();
    const field = this.page.getByLabel('Message', { exact: true });
    await field.fill(text);
    await field.press('Enter');
  }

  /** The cards of a tool that say a word, as in `process_payment: asked`. */
  cards(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  /** Waits until so many such cards are shown. */
  async seesCards(name: string, count = 1): Promise<void> {
    const cards = this.cards(name);
    await cards.nth(count - 1).waitFor();
    await cards.nth(count).waitFor({ state: 'detached' });
  }

  /** Waits until the conversation holds a text. */
  async reads(text: string | RegExp): Promise<void> {
    await this.page.getByRole('log').getByText(text).first().waitFor();
  }

  /** Waits until the page holds a text. To a browser, all other ways to look are touches. */
  async readsWithoutTouching(text: string): Promise<void> {
    const devtools = await this.page.context().newCDPSession(this.page);
    const look = `new Promise(seen => {
      const look = () => document.body.innerText.includes(${JSON.stringify(text)})
        ? seen() : requestAnimationFrame(look);
      look();
    })`;
    await devtools.send('Runtime.evaluate', { expression: look, awaitPromise: true });
  }

  /** Waits until the wallet holds so much. */
  async sees(balance: string): Promise<void> {
    const wallet = this.page.getByLabel('Wallet balance');
    await wallet.and(this.page.getByText(balance, { exact: true })).waitFor();
  }

  async clicks(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click();
  }

  /** Waits until nothing is being streamed. */
  async sawTheEnd(): Promise<void> {
    await this.page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  }

  async photographs(name: string): Promise<void> {
    await this.page.screenshot({ path: join(projectRoot, 'artifacts', `${name}.png`) });
  }
}
