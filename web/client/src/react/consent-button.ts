import { createElement, type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import type { ConsentPlaces } from '../arming.ts';
import { takeConsent } from '../consent.ts';

export type ConsentButtonProps = {
  /** Whether what is to be consented to is shown, and no answer is on its way. */
  isReady: boolean;
  /** Identifies what is shown: something else has to be in sight again. */
  shown: string;
  onConsent: () => void;
  /** A press that does not count. */
  onTooSoon: () => void;
  /** Where the question and what it is about are: by the attributes of `CONSENT_PLACES` by default. */
  places?: ConsentPlaces;
  className?: string;
  'data-part'?: string;
  children: ReactNode;
};

/**
 * A button whose press is consent: pointer and click on it, or a key while it has the focus, and only
 * once it is armed. It looks disabled until then, and can be reached with the keyboard all the time.
 */
export function ConsentButton({
  isReady,
  shown,
  onConsent,
  onTooSoon,
  places,
  className,
  'data-part': part,
  children,
}: ConsentButtonProps): ReactElement {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef({ onConsent, onTooSoon });
  latest.current = { onConsent, onTooSoon };

  // biome-ignore lint/correctness/useExhaustiveDependencies: what else is shown is looked at again
  useEffect(() => {
    if (button.current === null) {
      return;
    }
    return takeConsent(button.current, {
      isReady,
      places,
      onConsent: () => latest.current.onConsent(),
      onTooSoon: () => latest.current.onTooSoon(),
    });
  }, [isReady, shown]);

  return createElement(
    'button',
    { ref: button, type: 'button', className, 'data-part': part, 'aria-disabled': true },
    children,
  );
}
