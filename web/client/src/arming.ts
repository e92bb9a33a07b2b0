/**
 * When a press on a button is consent. A question that comes up, or moves, under a pointer or a key
 * that was meant for something else is not answered by it: the button has to have been in sight, whole,
 * uncovered and unmoved, for a while before the press began, together with the question and the fields;
 * and the ends of both have to have been in sight, too.
 */

/** How long. Shorter, people have pressed before they could have read. */
export const ARMING_MS = 500;

/** Where a button finds what it answers, as selectors. */
export type ConsentPlaces = {
  /** The card that holds the button and what it answers. */
  card: string;
  /** What is asked, and about what: boxes that have to be in sight with the button. */
  shown: string;
  /** What is at the end of each text that may scroll: it has to have been in sight once. */
  end: string;
};

/** Attributes, for cards that have no classes of their own. */
export const CONSENT_PLACES: ConsentPlaces = {
  card: '[data-consent="card"]',
  shown: '[data-consent="shown"]',
  end: '[data-consent="end"]',
};

/** Between two looks at where the button is. */
const LOOK_MS = 50;

/** Rounding of a browser that scrolls by fractions. */
const TOLERANCE_PX = 1.5;

interface Place {
  left: number;
  top: number;
  width: number;
  height: number;
}

export class Arming {
  /** Where the button has been since `#since`, while it is in sight. */
  #place: Place | undefined;
  #since = 0;
  #isArmed = false;
  readonly #looking: ReturnType<typeof setInterval>;
  /** The ends of what is to be read that were not in sight yet. */
  readonly #unread: Set<Element>;
  readonly #reading: IntersectionObserver;

  constructor(
    readonly button: HTMLElement,
    readonly onChange: (isArmed: boolean) => void,
    readonly places: ConsentPlaces = CONSENT_PLACES,
  ) {
    this.#unread = new Set(button.closest(places.card)?.querySelectorAll(places.end));
    this.#reading = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting && this.#unread.delete(target)) {
          this.#reading.unobserve(target);
          this.#begin();
        }
      }
    });
    for (const end of this.#unread) {
      this.#reading.observe(end);
    }
    // A click that brings the window to the front is meant for the window.
    window.addEventListener('focus', this.#begin);
    window.addEventListener('blur', this.#begin);
    document.addEventListener('visibilitychange', this.#begin);
    // Not by animation frames: a browser that has nothing to draw may give none for seconds, and a
    // loop of them has it draw all the time.
    this.#looking = setInterval(this.#look, LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#looking);
    this.#reading.disconnect();
    window.removeEventListener('focus', this.#begin);
    window.removeEventListener('blur', this.#begin);
    document.removeEventListener('visibilitychange', this.#begin);
  }

  /** Whether a press that began at a time, as events give it, counts. */
  isArmedAt(time: number): boolean {
    // It may have moved since the last look.
    this.#compare(performance.now());
    return this.#place !== undefined && this.#unread.size === 0 && time - this.#since >= ARMING_MS;
  }

  readonly #begin = (): void => {
    this.#place = undefined;
    this.#notify(performance.now());
  };

  readonly #look = (): void => {
    this.#compare(performance.now());
    this.#notify(performance.now());
  };

  #compare(now: number): void {
    const place = placeInSight(this.button, this.places);
    if (place === undefined || this.#place === undefined || !isSame(place, this.#place)) {
      this.#place = place;
      this.#since = now;
    }
  }

  #notify(now: number): void {
    const isArmed =
      this.#place !== undefined && this.#unread.size === 0 && now - this.#since >= ARMING_MS;
    if (isArmed !== this.#isArmed) {
      this.#isArmed = isArmed;
      this.onChange(isArmed);
    }
  }
}

/** Where a button is, if all of it is to be seen with what it answers, and nothing lies over it. */
function placeInSight(button: HTMLElement, places: ConsentPlaces): Place | undefined {
  const isShown = button.checkVisibility?.({ opacityProperty: true, visibilityProperty: true });
  if (isShown === false || document.visibilityState === 'hidden') {
    return undefined;
  }
  const { left, top, width, height } = button.getBoundingClientRect();
  const isInside =
    left >= 0 && top >= 0 && left + width <= innerWidth && top + height <= innerHeight;
  if (!isInside) {
    return undefined;
  }
  // Its middle and points near its corners, which are round.
  const isUncovered = [
    [0.5, 0.5],
    [0.1, 0.3],
    [0.9, 0.3],
    [0.1, 0.7],
    [0.9, 0.7],
  ].every(([x = 0, y = 0]) => {
    const hit = document.elementFromPoint(left + width * x, top + height * y);
    return hit !== null && button.contains(hit);
  });
  return isUncovered && isWithWhatIsAsked(button, places)
    ? { left, top, width, height }
    : undefined;
}

/** Whether the question and the fields are in sight: in the middle of each, nothing else is. */
function isWithWhatIsAsked(button: HTMLElement, places: ConsentPlaces): boolean {
  const boxes = button.closest(places.card)?.querySelectorAll(places.shown) ?? [];
  return [...boxes].every(box => {
    const { left, top, width, height } = box.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && box.contains(hit);
  });
}

function isSame(a: Place, b: Place): boolean {
  return (
    Math.abs(a.left - b.left) < TOLERANCE_PX &&
    Math.abs(a.top - b.top) < TOLERANCE_PX &&
    Math.abs(a.width - b.width) < TOLERANCE_PX &&
    Math.abs(a.height - b.height) < TOLERANCE_PX
  );
}
