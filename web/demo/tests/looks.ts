/** How the page looks in its main states, and whether everybody can use it there. */
import AxeBuilder from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startServer, Visitor } from './visitor.ts';

/** How much of the page has moved by itself so far, as browsers measure it. */
export const movement = () =>
  new Promise<number>(resolve => {
    new PerformanceObserver(list => {
      const shifts = list.getEntries() as (PerformanceEntry & { value?: number })[];
      resolve(shifts.reduce((sum, shift) => sum + (shift.value ?? 0), 0));
    }).observe({ type: 'layout-shift', buffered: true });
    // Where nothing has moved, nothing is reported.
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
  });

/** What axe finds that keeps somebody out. */
export async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: page as never }).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' | ')}`);
}

/** Goes through the main states, photographs them and looks for barriers. */
export function looks(name: string, look: BrowserContextOptions): void {
  test(`shows itself well, to everybody: ${name}`, async () => {
    const server = await startServer({ approvalTimeout: 3_600 });
    const visitor = await Visitor.at(server.url, look);
    const { page } = visitor;
    const isPhone = name.startsWith('phone');
    const isLookedThrough = name === 'desktop-light' || name === 'phone-dark';
    const photograph = async (what: string) => {
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
    await photograph('empty');

    await visitor.says('What is the weather in Tokyo?');
    await visitor.reads(/18°C/);
    await visitor.says('Send $30 to Alice and $40 to Bob');
    await visitor.seesCards('process_payment: asked', 2);
    await page.getByRole('heading', { name: 'Send 40 USD to Bob?' }).waitFor();
    await visitor.sawTheEnd();
    await photograph('asked');

    await page.getByRole('button', { name: 'Inbox, 2 waiting' }).click();
    await page.getByRole('heading', { name: 'What waits for you' }).waitFor();
    await photograph('inbox');
    if (isPhone) {
      await visitor.clicks('Close');
    }

    await page.getByRole('log').getByRole('button', { name: 'Edit' }).first().click();
    await photograph('edited');
    await visitor.clicks('Back');
    await visitor.approves();
    await visitor.seesCards('process_payment: done');
    await page.getByRole('log').getByRole('button', { name: 'Deny' }).click();
    await photograph('denying');
    await visitor.clicks('Deny it');
    await visitor.seesCards('process_payment: denied');
    await visitor.reads(/denied the payment/);
    await visitor.says('Play track 2');
    await visitor.seesCards('change_bgm: done');
    await visitor.reads(/playing/);
    await visitor.sawTheEnd();
    await photograph('finished');

    await page.getByRole('button', { name: 'Journal', exact: true }).click();
    await page.getByRole('heading', { name: 'The journal of this chat' }).waitFor();
    await photograph('journal');
    await visitor.clicks('Replay');
    await page.getByRole('button', { name: 'Next entry' }).click();
    await page.getByRole('button', { name: 'Next entry' }).click();
    await photograph('replay');
    await visitor.clicks('Back to the chat');
    await visitor.says('Fail with rate limit');
    await page.getByRole('alert').waitFor();
    await photograph('problem');
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByText('Appearance').waitFor();
    await photograph('settings');

    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow, 'nothing sticks out at the side').toBeLessThanOrEqual(0);
    expect(visitor.complaints).toEqual([]);
    expect(visitor.foreign, 'everything comes from the binary').toEqual([]);
  });
}
