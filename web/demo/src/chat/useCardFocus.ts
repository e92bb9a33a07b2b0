import { useEffect, useRef } from 'react';
import { MESSAGE_FIELD } from './Composer.tsx';

/**
 * Brings the keyboard to a question that comes up, unless its owner is busy elsewhere, and from one
 * that was answered to the next, or back to the message field.
 */
export function useCardFocus(open: string): void {
  const before = useRef(open);

  useEffect(() => {
    const wasOpen = before.current !== '';
    before.current = open;
    const field = document.getElementById(MESSAGE_FIELD) as HTMLTextAreaElement | null;
    const active = document.activeElement;
    const isFree =
      active === null || active === document.body || (active === field && field?.value === '');
    // Where a finger chose, nothing is to scroll and no keyboard to come up.
    if (!isFree || !window.matchMedia('(pointer: fine)').matches) {
      return;
    }
    const slip = document.querySelector<HTMLElement>('[role="log"] [data-slip="open"]');
    if (slip !== null) {
      slip.focus({ preventScroll: true });
    } else if (wasOpen) {
      field?.focus({ preventScroll: true });
    }
  }, [open]);
}
