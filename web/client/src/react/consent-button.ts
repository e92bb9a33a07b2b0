import {
  createElement,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from 'react';
import { ARMING_MS, Arming, type ConsentPlaces } from './arming.ts';

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
  children,
}: ConsentButtonProps): ReactElement {
  const button = useRef<HTMLButtonElement>(null);
  const arming = useRef<Arming>(undefined);
  const focusedAt = useRef(0);
  /** Whether the press that is under way began on the armed button. */
  const press = useRef<boolean>(undefined);
  const [isArmed, setIsArmed] = useState(false);

  /** A press that is under way ends as none, whatever is armed by then: the next one counts again. */
  const refuse = () => {
    if (press.current !== undefined) {
      press.current = false;
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: what else is shown is looked at again
  useEffect(() => {
    if (!isReady || button.current === null) {
      return;
    }
    const made = new Arming(button.current, setIsArmed, places);
    arming.current = made;
    return () => {
      made.stop();
      arming.current = undefined;
      refuse();
      setIsArmed(false);
    };
  }, [isReady, shown]);

  const isArmedAt = (time: number) => arming.current?.isArmedAt(time) === true;

  const onPointerDown = (event: PointerEvent) => {
    press.current = event.isPrimary && event.button === 0 && isArmedAt(event.timeStamp);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') {
      return;
    }
    const { repeat, timeStamp } = event;
    press.current = !repeat && isArmedAt(timeStamp) && timeStamp - focusedAt.current >= ARMING_MS;
    if (!press.current) {
      // Before it becomes a click.
      event.preventDefault();
      onTooSoon();
    }
  };

  const onClick = (event: MouseEvent) => {
    // Without a pointer and a key it comes from an assistive technology, which says nothing earlier.
    const isGood = press.current ?? isArmedAt(event.timeStamp);
    press.current = undefined;
    // The second half of a double click was meant for what was there before.
    if (isGood && event.detail < 2) {
      onConsent();
    } else {
      onTooSoon();
    }
  };

  return createElement(
    'button',
    {
      ref: button,
      type: 'button',
      className,
      'aria-disabled': !isArmed,
      onFocus: (event: { timeStamp: number }) => {
        focusedAt.current = event.timeStamp;
      },
      onBlur: refuse,
      onPointerCancel: refuse,
      onPointerDown,
      onKeyDown,
      onClick,
    },
    children,
  );
}
