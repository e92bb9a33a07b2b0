/** The presses on a button that are consent, for pages of any framework. */
import { ARMING_MS, Arming, type ConsentPlaces } from './arming.ts';

export type ConsentOptions = {
  /** Whether what is to be consented to is shown, and no answer is on its way: before, no press counts. */
  isReady?: boolean;
  onConsent: () => void;
  /** A press that does not count. */
  onTooSoon?: () => void;
  /** Where the question and what it is about are: by the attributes of `CONSENT_PLACES` by default. */
  places?: ConsentPlaces | undefined;
};

/**
 * Whether the press that is under way on a button began when it was armed. It outlives what was shown: a
 * press that begins on one question and ends on another is consent to neither.
 */
const presses = new WeakMap<HTMLElement, boolean>();

/**
 * Makes a press on a button consent: pointer and click on it, or a key while it has the focus, and only
 * once it is armed. `aria-disabled` says until then that it does not count yet; the button can be reached
 * with the keyboard all the time. Call the returned function when the button goes, and begin again when
 * something else is shown.
 */
export function takeConsent(button: HTMLElement, options: ConsentOptions): () => void {
  const { isReady = true, places, onConsent, onTooSoon } = options;
  let focusedAt = 0;
  const setArmed = (isArmed: boolean) => button.setAttribute('aria-disabled', String(!isArmed));
  setArmed(false);
  const arming = isReady ? new Arming(button, setArmed, places) : undefined;
  const isArmedAt = (time: number) => arming?.isArmedAt(time) === true;

  /** A press that is under way ends as none, whatever is armed by then: the next one counts again. */
  const refuse = () => {
    if (presses.has(button)) {
      presses.set(button, false);
    }
  };
  const onFocus = (event: FocusEvent) => {
    focusedAt = event.timeStamp;
  };
  const onPointerDown = (event: PointerEvent) => {
    presses.set(button, event.isPrimary && event.button === 0 && isArmedAt(event.timeStamp));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') {
      return;
    }
    const { repeat, timeStamp } = event;
    const isGood = !repeat && isArmedAt(timeStamp) && timeStamp - focusedAt >= ARMING_MS;
    presses.set(button, isGood);
    if (!isGood) {
      // Before it becomes a click.
      event.preventDefault();
      onTooSoon?.();
    }
  };
  const onClick = (event: MouseEvent) => {
    // Without a pointer and a key it comes from an assistive technology, which says nothing earlier.
    const isGood = presses.get(button) ?? isArmedAt(event.timeStamp);
    presses.delete(button);
    // The second half of a double click was meant for what was there before.
    if (isGood && event.detail < 2) {
      onConsent();
    } else {
      onTooSoon?.();
    }
  };

  const listening = new AbortController();
  const { signal } = listening;
  button.addEventListener('focus', onFocus, { signal });
  button.addEventListener('blur', refuse, { signal });
  button.addEventListener('pointercancel', refuse, { signal });
  button.addEventListener('pointerdown', onPointerDown, { signal });
  button.addEventListener('keydown', onKeyDown, { signal });
  button.addEventListener('click', onClick, { signal });
  return () => {
    listening.abort();
    arming?.stop();
    refuse();
    setArmed(false);
  };
}
