/** Presses on the buttons of the pages in examples/. */
import type { Locator, Page } from 'playwright-core';
import { vi } from 'vitest';
import { WAIT_MS } from './visitor.ts';

/** Presses a button that takes consent: on a busy machine, a press may come too soon to count. */
export async function consent(question: Locator, name: string) {
  const button = question.getByRole('button', { name });
  await vi.waitUntil(
    async () => {
      // With its question out of sight it takes none. It may go, or move, while it is pressed.
      await question
        .evaluate(it => it.scrollIntoView({ block: 'nearest' }), null, { timeout: 2_000 })
        .catch(() => undefined);
      await button.click({ timeout: 2_000 }).catch(() => undefined);
      return (await question.count()) === 0;
    },
    { timeout: WAIT_MS, interval: 200 },
  );
}

/** Presses “Approve” in the moment in which it appears, in the page, so that no machine is too slow. */
export const pressWhenItAppears = (page: Page) =>
  page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const buttons = [...document.querySelectorAll('button')];
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
  });
