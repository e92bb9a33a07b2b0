/** Consent: what counts as a yes, and what never does. */
import { expect, test } from 'vitest';
import { pressAtOnce } from './pressing.ts';
import type { Server } from './server.ts';
import { BY_TIMER, startServer, type Transport, Visitor, WAIT_MS, withBrowser } from './visitor.ts';
import { Wire } from './wire.ts';

withBrowser();

const delays = [0, 100, 250, 500, 750, 1_000, 1_500, 2_000];

const transports: Transport[] = ['sse', 'bidi'];

/** The answers that the page gives to approvals. */
function answersOf({ page }: Visitor): string[] {
  const answers: string[] = [];
  page.on('request', request => {
    if (request.method() === 'POST' && request.url().includes('/api/approvals')) {
      answers.push(request.url());
    }
  });
  return answers;
}

const paymentsOf = async ({ url }: Server) =>
  (await (await fetch(`${url}/api/wallet`)).json()).payments;

const letters = 'no wait, not yet';

test.each(transports.flatMap(transport => delays.map(delay => [delay, transport] as const)))(
  'writing on after %i ms is never a yes, over %s',
  async (delay, transport) => {
    const server = await startServer({ pace: 20, sdk: 7 });
    const visitor = await Visitor.at(server.url, { transport });
    const { page } = visitor;
    const answers = answersOf(visitor);
    await visitor.says('Send $20 to Sam');
    // The time is what is tested here.
    await page.waitForTimeout(delay);
    await page.keyboard.type(letters, { delay: 30 });
    const field = page.getByLabel('Message', { exact: true });
    expect(await field.inputValue()).toBe(letters);
    // The card is there, maybe since before the first letter, and all of them went to the field.
    await visitor.seesCards('process_payment: asked');
    const denyAndSend = page.getByRole('button', { name: 'Deny and send' });
    await denyAndSend.waitFor();
    await page.keyboard.press('Enter');
    // Over a question it only warns.
    await page.getByText('Press Enter again to answer it with no and send this.').waitFor();
    await visitor.seesCards('process_payment: asked');
    expect(await field.inputValue()).toBe(letters);
    // The first answer wins: after a yes, sent by whatever, this would be no denial.
    await visitor.presses(denyAndSend);
    await visitor.seesCards('process_payment: denied');
    expect(answers).toEqual([]);
    expect(await paymentsOf(server)).toEqual([]);
  },
);

test.each(transports)(
  'what is sent before the card comes up waits for its answer, over %s',
  async transport => {
    const server = await startServer({ pace: 20, sdk: 7 });
    const wire = await Wire.to(server.url);
    const visitor = await Visitor.at(wire.url, { transport });
    const { page } = visitor;
    const answers = answersOf(visitor);
    // The socket is open by then.
    await visitor.says('What is the weather in London?');
    await visitor.reads(/12°C.* humidity\./);
    await visitor.sawTheEnd();
    // However busy the machine is, the card does not come before it may.
    wire.hold();
    await visitor.says('Send $20 to Sam');
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await page.keyboard.type(letters);
    await page.keyboard.press('Enter');
    const queued = async () => {
      const chat = await fetch(`${server.url}/api/chat/${visitor.chat}`);
      const { queued = [] } = chat.ok ? await chat.json() : {};
      return JSON.stringify(queued);
    };
    await expect.poll(queued, { timeout: WAIT_MS }).toContain(letters);
    await expect.poll(() => server.approvals(), { timeout: WAIT_MS }).toHaveLength(1);
    wire.release();
    await visitor.seesCards('process_payment: asked');
    await page.getByRole('region', { name: 'Conversation' }).getByText(letters).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
    await visitor.sawTheEnd();
    // It waits still, and has answered nothing.
    expect(await queued()).toContain(letters);
    expect(answers).toEqual([]);
    expect(await server.approvals()).toHaveLength(1);
    expect(await paymentsOf(server)).toEqual([]);
  },
);

test('a tap that finds “Deny and send” in the place of “Send” denies nothing', async () => {
  const server = await startServer({ pace: 20, sdk: 7 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  // It is pressed in the moment in which it appears.
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const buttons = [...document.querySelectorAll<HTMLElement>('.composer button')];
      const found = buttons.find(it => it.textContent === 'Deny and send');
      if (found !== undefined) {
        observer.disconnect();
        found.click();
        Object.assign(window, { isTapped: true });
      }
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await visitor.says('Send $20 to Sam');
  await page.keyboard.type('And how are you?');
  await page.waitForFunction(() => 'isTapped' in window, undefined, BY_TIMER);
  await visitor.seesCards('process_payment: asked');
  const field = page.getByLabel('Message', { exact: true });
  expect(await field.inputValue()).toBe('And how are you?');
  // The same button, looked at, does what it says.
  await visitor.presses(page.getByRole('button', { name: 'Deny and send' }));
  await visitor.seesCards('process_payment: denied');
});

/** Opens the page with a question in it, and nothing else continuing. */
async function asked(text = 'Send $20 to Sam'): Promise<{ server: Server; visitor: Visitor }> {
  const server = await startServer({ sdk: 7 });
  const visitor = await Visitor.at(server.url);
  await visitor.says(text);
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  return { server, visitor };
}

const approveButton = ({ page }: Visitor) =>
  page.getByRole('log').getByRole('button', { name: 'Approve', exact: true });

const armed = (visitor: Visitor) =>
  approveButton(visitor).and(visitor.page.locator('[aria-disabled=false]')).waitFor();

const unarmed = (visitor: Visitor) =>
  approveButton(visitor).and(visitor.page.locator('[aria-disabled=true]')).waitFor();

test('a card never takes the focus from the field, empty or not', async () => {
  const { visitor } = await asked();
  const { page } = visitor;
  await armed(visitor);
  const field = page.getByLabel('Message', { exact: true });
  expect(await field.evaluate(it => it === document.activeElement)).toBe(true);
  await page.keyboard.type('y');
  expect(await field.inputValue()).toBe('y');
  await page.keyboard.press('Backspace');
  // And none that nobody has.
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await visitor.page.reload();
  await armed(visitor);
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.type('ay');
  await visitor.seesCards('process_payment: asked');
  await approveButton(visitor).waitFor();
  await visitor.sees('$1,000');
});

test('a press on a button that has just appeared is no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  // In the moment in which it appears, so that no machine is too slow for it.
  await page.addInitScript(pressAtOnce, '[role=log] .consent');
  const answers = answersOf(visitor);
  await page.reload();
  await page.waitForFunction(() => 'isPressed' in window, undefined, BY_TIMER);
  await armed(visitor);
  expect(answers).toEqual([]);
  expect(await paymentsOf(server)).toEqual([]);
  // The same button, looked at, takes a yes.
  await visitor.presses(approveButton(visitor));
  await visitor.seesCards('process_payment: done');
});

test('a button that moves, is covered or out of sight takes no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  await armed(visitor);
  // It moves for as long as the page does, and every press comes while it does.
  await page.evaluate(() => {
    const spacer = document.createElement('div');
    document.querySelector('[role=log]')?.prepend(spacer);
    let height = 0;
    const timer = setInterval(() => {
      height = height === 0 ? 30 : 0;
      spacer.style.height = `${height}px`;
    }, 120);
    Object.assign(window, { stopMoving: () => clearInterval(timer) });
  });
  await unarmed(visitor);
  for (let press = 0; press < 10; press++) {
    const place = await approveButton(visitor).boundingBox();
    await page.mouse.click((place?.x ?? 0) + 20, (place?.y ?? 0) + 18);
  }
  await page.evaluate(() => (window as unknown as { stopMoving: () => void }).stopMoving());
  await armed(visitor);

  // Something that a pointer goes through, and a person does not see through.
  await page.evaluate(() => {
    const cover = document.createElement('div');
    cover.id = 'cover';
    cover.style.cssText = 'position: fixed; inset: 0; z-index: 99; opacity: 0.01';
    document.body.append(cover);
  });
  await unarmed(visitor);
  await page.evaluate(() => document.getElementById('cover')?.remove());
  await armed(visitor);

  // There, and not to be seen; and there, and not on the screen.
  const card = page.getByRole('log').locator('.approval');
  for (const style of [{ opacity: '0' }, { transform: 'translateY(100vh)' }]) {
    await card.evaluate((it, style) => Object.assign((it as HTMLElement).style, style), style);
    // Not only for as long as after any move.
    await page.waitForFunction(from => performance.now() - from > 1_000, await now(page), BY_TIMER);
    expect(await approveButton(visitor).getAttribute('aria-disabled')).toBe('true');
    await card.evaluate(it => it.removeAttribute('style'));
    await armed(visitor);
  }
  expect(await paymentsOf(server)).toEqual([]);
});

test('a press that began while the button took none is no yes when it ends', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  await armed(visitor);
  // It moves by so little that the pointer stays on it, and often enough to take no yes.
  await page.evaluate(() => {
    const spacer = document.createElement('div');
    document.querySelector('[role=log]')?.prepend(spacer);
    let height = 0;
    const timer = setInterval(() => {
      height = height === 0 ? 6 : 0;
      spacer.style.height = `${height}px`;
    }, 120);
    Object.assign(window, { stopMoving: () => clearInterval(timer) });
  });
  await unarmed(visitor);
  const place = await approveButton(visitor).boundingBox();
  await page.mouse.move((place?.x ?? 0) + 20, (place?.y ?? 0) + 18);
  await page.mouse.down();
  await page.evaluate(() => (window as unknown as { stopMoving: () => void }).stopMoving());
  await armed(visitor);
  await page.mouse.up();
  await page.getByText('That was too soon to be an answer.').waitFor();
  expect(await paymentsOf(server)).toEqual([]);
  // One that begins and ends there is one.
  await page.mouse.down();
  await page.mouse.up();
  await visitor.seesCards('process_payment: done');
});

test('a press that began while the button took none stays none when the focus goes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  await armed(visitor);
  const place = await approveButton(visitor).boundingBox();
  await page.mouse.move((place?.x ?? 0) + 20, (place?.y ?? 0) + 18);
  // The window has just come to the front, which a press would be meant for.
  await page.evaluate(() => {
    const begin = () => window.dispatchEvent(new Event('focus'));
    document.addEventListener('pointerdown', begin, { capture: true, once: true });
  });
  await page.mouse.down();
  await approveButton(visitor).evaluate(it => {
    it.focus();
    it.blur();
  });
  await armed(visitor);
  await page.mouse.up();
  await page.getByText('That was too soon to be an answer.').waitFor();
  expect(await paymentsOf(server)).toEqual([]);
  await page.mouse.down();
  await page.mouse.up();
  await visitor.seesCards('process_payment: done');
});

test('a key that is held down, or pressed elsewhere, is no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  const { keyboard } = page;
  await armed(visitor);
  await keyboard.down('Enter');
  await approveButton(visitor).focus();
  await page.waitForFunction(from => performance.now() - from > 600, await now(page), BY_TIMER);
  // The browser repeats what is held down.
  await keyboard.down('Enter');
  await keyboard.down('Enter');
  await keyboard.up('Enter');
  await page.getByText('That was too soon to be an answer.').waitFor();
  await keyboard.type('yes');
  await visitor.seesCards('process_payment: asked');
  expect(await paymentsOf(server)).toEqual([]);
  // One that is pressed on the button is one.
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
});

test('a key that comes right behind the focus is no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  await armed(visitor);
  // In one go, so that no machine is too slow for it.
  const becomesClick = await page.evaluate(() => {
    const button = document.querySelector<HTMLElement>('[role=log] .consent');
    button?.focus();
    const key = { key: 'Enter', bubbles: true, cancelable: true };
    return button?.dispatchEvent(new KeyboardEvent('keydown', key));
  });
  expect(becomesClick).toBe(false);
  await page.getByText('That was too soon to be an answer.').waitFor();
  expect(await paymentsOf(server)).toEqual([]);
});

test('a click that brings the window to the front is no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  for (const event of ['focus', 'blur', 'visibilitychange']) {
    await armed(visitor);
    // In one go, so that no machine is too slow for it: another window closes between two clicks, and
    // the second one finds the button where it has been all the time.
    await page.evaluate(name => {
      const target = name === 'visibilitychange' ? document : window;
      target.dispatchEvent(new Event(name));
      const button = document.querySelector<HTMLElement>('[role=log] .consent');
      const press = { bubbles: true, isPrimary: true, button: 0 };
      button?.dispatchEvent(new PointerEvent('pointerdown', press));
      button?.dispatchEvent(new PointerEvent('pointerup', press));
      button?.click();
    }, event);
    await page.getByText('That was too soon to be an answer.').waitFor();
  }
  await visitor.seesCards('process_payment: asked');
  expect(await paymentsOf(server)).toEqual([]);
});

test('the second half of a double click is no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  await armed(visitor);
  const place = await approveButton(visitor).boundingBox();
  await page.mouse.move((place?.x ?? 0) + 20, (place?.y ?? 0) + 18);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await page.getByText('That was too soon to be an answer.').waitFor();
  await visitor.seesCards('process_payment: asked');
  expect(await paymentsOf(server)).toEqual([]);
});

test('nothing is a yes before the server’s own record was read', async () => {
  const server = await startServer({ sdk: 7 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  let release = () => {};
  const mayRead = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route('**/api/approvals/*', async route => {
    await mayRead;
    await route.continue();
  });
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // Longer than a button that is in sight takes to be armed.
  await page.waitForFunction(from => performance.now() - from > 1_200, await now(page), BY_TIMER);
  expect(await approveButton(visitor).getAttribute('aria-disabled')).toBe('true');
  release();
  await armed(visitor);
});

test('Enter in a field of the edit form is no yes', async () => {
  const { server, visitor } = await asked();
  const { page } = visitor;
  await visitor.clicks('Edit');
  await page.getByLabel('amount').fill('7');
  await page
    .getByRole('button', { name: 'Approve this' })
    .and(page.locator('[aria-disabled=false]'))
    .waitFor();
  await page.getByLabel('amount').press('Enter');
  await page.getByLabel('amount').fill('5');
  expect(await paymentsOf(server)).toEqual([]);
  await visitor.consents(page.getByRole('button', { name: 'Approve this' }));
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$995');
});

const now = (page: Visitor['page']) => page.evaluate(() => performance.now());
