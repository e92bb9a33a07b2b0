/** Presses on the buttons that take consent, of the pages in examples/ and of the demo. */
import type { Locator, Page } from 'playwright-core';
import { vi } from 'vitest';
import { WAIT_MS } from './visitor.ts';

/** Presses a button that takes consent: on a busy machine, a press may come too soon to count. */
export async function consent(question: Locator, name: string) {
  const button = question.getByRole('button', { name });
  const ready = button.and(question.page().locator('[aria-disabled=false]'));
  await vi.waitUntil(
    async () => {
      // With its question out of sight it takes none. It may go, or move, while it is pressed.
      await question
        .evaluate(it => it.scrollIntoView({ block: 'nearest' }), null, { timeout: 2_000 })
        .catch(() => undefined);
      // Not pressed before: Playwright scrolls while it waits, and a button that moves takes none.
      await ready.waitFor({ timeout: 2_000 }).catch(() => undefined);
      await button.click({ timeout: 2_000 }).catch(() => undefined);
      return (await question.count()) === 0;
    },
    { timeout: WAIT_MS, interval: 200 },
  );
}

/** In the page: presses “Approve” in the moment in which it appears, so that no machine is too slow. */
export function pressAtOnce(selector: string) {
  const observer = new MutationObserver(() => {
    const buttons = [...document.querySelectorAll<HTMLElement>(selector)];
    const button = buttons.find(it => it.textContent.trim() === 'Approve');
    if (button !== undefined) {
      observer.disconnect();
      const press = { bubbles: true, isPrimary: true, button: 0 };
      button.dispatchEvent(new PointerEvent('pointerdown', press));
      button.dispatchEvent(new PointerEvent('pointerup', press));
      button.click();
      Object.assign(window, { isPressed: true });
    }
  });
  observer.observe(document, { childList: true, subtree: true });
}

export const pressWhenItAppears = (page: Page) => page.evaluate(pressAtOnce, 'button');
