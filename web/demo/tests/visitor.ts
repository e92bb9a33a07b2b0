/** Somebody who opens the page in a real browser and uses it as people do. */
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { projectRoot, Server, type ServerOptions } from './server.ts';

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
        // Sound is made and goes nowhere: a machine for tests may have no speakers.
        '--mute-audio',
        // A microphone that beeps, and nobody to be asked for it.
        '--use-fake-device-for-media-stream',
        '--use-fake-ui-for-media-stream',
      ],
    });
  });
  afterAll(() => browser?.close());
  // Whatever a test is about, the page keeps to the policy that the server sends with it.
  afterEach(() => expect(violations.splice(0)).toEqual([]));
}

/** What the page wanted to load or run against its content security policy, since the last test. */
const violations: string[] = [];

/** Has a page report what its content security policy forbids it. */
async function reportViolations(context: BrowserContext): Promise<void> {
  await context.exposeFunction('reportViolation', (what: string) => violations.push(what));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', event => {
      const { reportViolation } = window as unknown as { reportViolation: (what: string) => void };
      reportViolation(`${event.effectiveDirective}: ${event.blockedURI} at ${event.sourceFile}`);
    });
  });
}

/** A server of the test's own, so that nobody else spends from its wallet. */
export async function startServer(options?: ServerOptions): Promise<Server> {
  const server = await Server.start(options);
  onTestFinished(() => server.remove());
  return server;
}

/** How to wait for a function in the page. Not by frames: a headless browser may draw none for a while. */
export const BY_TIMER = { polling: 50 };

/** How long a page may take for what it does at once on a quiet machine. */
export const WAIT_MS = 45_000;

export type Transport = 'sse' | 'bidi';

export interface VisitorOptions extends BrowserContextOptions {
  transport?: Transport;
  /** How long the page may take to open, in milliseconds. */
  timeoutMs?: number;
  /** The same browser, in another tab. */
  context?: BrowserContext;
}

export class Visitor {
  /** What the browser complained of. */
  readonly complaints: string[] = [];
  /** What the page asked of anybody else than the server. */
  readonly foreign: string[] = [];

  private constructor(readonly page: Page) {}

  /** Opens the page. */
  static async at(url: string, options: VisitorOptions = {}): Promise<Visitor> {
    const { transport, timeoutMs = WAIT_MS, context: given, ...rest } = options;
    const context = given ?? (await browser.newContext({ locale: 'en-GB', ...rest }));
    if (given === undefined) {
      onTestFinished(() => context.close());
      await reportViolations(context);
    }
    if (transport !== undefined) {
      // As somebody who chose it the last time.
      await context.addInitScript(
        name =>
          localStorage.getItem('adk-stream.transport') ??
          localStorage.setItem('adk-stream.transport', name),
        transport,
      );
    }
    const page = await context.newPage();
    // Far below vitest's own timeout, so that what was waited for is named.
    page.setDefaultTimeout(WAIT_MS);
    const visitor = new Visitor(page);
    visitor.listen(new URL(url).origin);
    await page.goto(url, { timeout: timeoutMs });
    return visitor;
  }

  private listen(origin: string): void {
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
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:')) {
        this.foreign.push(url);
      }
    });
  }

  /** Writes a message and sends it with the keyboard. */
  async says(text: string): Promise<void> {
    await this.sawTheEnd();
    const field = this.page.getByLabel('Message', { exact: true });
    await field.fill(text);
    await field.press('Enter');
    // While a question is open, Enter only says what it would do.
    const warning = this.page.getByText('Press Enter again to answer it with no and send this.');
    if (await warning.isVisible()) {
      await field.press('Enter');
    }
  }

  /** The cards of a tool that say a word, as in `process_payment: asked`. */
  cards(name: string): Locator {
    return this.page.getByRole('log').getByRole('group', { name, exact: true });
  }

  /** Waits until this many such cards are shown. */
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

  /** Approves the first card that asks. */
  async approves(): Promise<void> {
    const button = this.page.getByRole('log').getByRole('button', { name: 'Approve' });
    await this.consents(button.first());
  }

  /** Presses a button that takes consent until the answer is on its way: some presses don't count. */
  async consents(button: Locator): Promise<void> {
    let isSent = false;
    const onRequest = (request: Request) => {
      isSent ||= request.method() === 'POST' && request.url().includes('/api/approvals/');
    };
    this.page.on('request', onRequest);
    do {
      await this.presses(button, () => isSent);
    } while (!isSent);
    this.page.off('request', onRequest);
  }

  /** Presses a button that takes consent, once it does. */
  async presses(button: Locator, isLate = () => false): Promise<void> {
    // Asked for by a timer, as a person looks: Playwright waits for frames, which a browser without a
    // screen may stop giving while a button that can't be pressed is waited for.
    await vi.waitUntil(
      async () => {
        if (isLate()) {
          return true;
        }
        return button.evaluateAll(([it]) => {
          // With its question out of sight it takes none.
          it?.closest('.approval')?.scrollIntoView({ block: 'nearest' });
          return it !== undefined && it.getAttribute('aria-disabled') !== 'true';
        });
      },
      { timeout: WAIT_MS, interval: 50 },
    );
    if (!isLate()) {
      await button.click();
    }
  }

  /** Denies the first card that asks, and says why. */
  async denies(reason = ''): Promise<void> {
    await this.page.getByRole('log').getByRole('button', { name: 'Deny' }).first().click();
    await this.page.getByLabel('Why not? The agent gets your reason.').fill(reason);
    await this.clicks('Deny it');
  }

  /** Waits until nothing is being streamed. */
  async sawTheEnd(): Promise<void> {
    await this.page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  }

  /** The chat that the address names. */
  get chat(): string {
    return decodeURIComponent(new URL(this.page.url()).hash.replace('#chat=', ''));
  }

  async photographs(name: string): Promise<void> {
    await this.page.screenshot({ path: join(projectRoot, 'artifacts', `${name}.png`) });
  }
}
