/**
 * When a press on a button is consent. A question that comes up, or moves, under a pointer or a key
 * that was meant for something else is not answered by it: the button has to have been in sight, whole,
 * uncovered and unmoved, for a while before the press began, together with the question and the fields,
 * whole as well; and the ends of both have to have been in sight, too.
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

/** How far inside of a box its edges are looked for. */
const EDGE_PX = 2;

/** Which share of the window a box may fill and still has to be in sight whole, with its button. */
const LARGEST_SHARE = 0.5;

interface Place {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** What of the page is to be seen: less than the window where somebody zooms in, or a keyboard covers it. */
interface Sight extends Place {
  scale: number;
}

export class Arming {
  /** Where the button has been since `#since`, while it is in sight. */
  #place: Place | undefined;
  #since = 0;
  #isArmed = false;
  readonly #looking: ReturnType<typeof setInterval>;
  /** The ends of what is to be read that were not in sight yet. */
  readonly #unread: Set<Element>;
  /** Those of them that nothing in the page hides. */
  readonly #uncovered = new Set<Element>();
  readonly #reading: IntersectionObserver;
  /** The boxes that are too large to be in sight whole, and whose beginning was. */
  readonly #begun = new WeakSet<Element>();

  constructor(
    readonly button: HTMLElement,
    readonly onChange: (isArmed: boolean) => void,
    readonly places: ConsentPlaces = CONSENT_PLACES,
  ) {
    this.#unread = new Set(button.closest(places.card)?.querySelectorAll(places.end));
    this.#reading = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) {
          this.#uncovered.add(target);
        } else {
          this.#uncovered.delete(target);
        }
      }
      this.#read();
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
    this.#read();
    this.#compare(performance.now());
    this.#notify(performance.now());
  };

  #boxes(): Element[] {
    const { card, shown } = this.places;
    return [...(this.button.closest(card)?.querySelectorAll(shown) ?? [])];
  }

  /** Notes the ends that are in sight, and the beginnings of what can't be in sight whole. */
  #read(): void {
    const sight = sightOf();
    for (const box of this.#boxes()) {
      const place = box.getBoundingClientRect();
      const { left, top, width } = place;
      if (isLarge(place) && isAt(box, left + width / 2, top + EDGE_PX, sight)) {
        this.#begun.add(box);
      }
    }
    for (const end of this.#uncovered) {
      const { left, top } = end.getBoundingClientRect();
      if (this.#unread.has(end) && isInside({ left, top, width: 0, height: 0 }, sight)) {
        this.#unread.delete(end);
        this.#uncovered.delete(end);
        this.#reading.unobserve(end);
        this.#begin();
      }
    }
  }

  #compare(now: number): void {
    const sight = sightOf();
    const place = placeInSight(this.button, sight);
    const isShown = place !== undefined && this.#isShown(sight);
    this.#keep(isShown ? place : undefined, now);
  }

  /** Whether the question and the fields are in sight, with nothing over them. */
  #isShown(sight: Sight): boolean {
    return this.#boxes().every(box => {
      const place = box.getBoundingClientRect();
      if (!isLarge(place)) {
        return isInside(place, sight) && isUncovered(box, place);
      }
      // It does not scroll in a box of its own: nobody can see all of it at once.
      const part = partIn(place, sight);
      // What surrounds it in the page may be over its edges there.
      return this.#begun.has(box) && part !== undefined && isAtMiddle(box, part);
    });
  }

  #keep(place: Place | undefined, now: number): void {
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

/** What is to be seen, in the coordinates of the boxes of the page. */
function sightOf(): Sight {
  const {
    offsetLeft: left = 0,
    offsetTop: top = 0,
    width = innerWidth,
    height = innerHeight,
    scale = 1,
  } = globalThis.visualViewport ?? {};
  return { left, top, width, height, scale };
}

/** Where a button is on the screen, if all of it is to be seen and nothing lies over it. */
function placeInSight(button: HTMLElement, sight: Sight): Place | undefined {
  const isShown = button.checkVisibility?.({ opacityProperty: true, visibilityProperty: true });
  if (isShown === false || document.visibilityState === 'hidden') {
    return undefined;
  }
  const { left, top, width, height } = button.getBoundingClientRect();
  if (!isInside({ left, top, width, height }, sight)) {
    return undefined;
  }
  // Its middle and points near its corners, which are round.
  const isFree = [
    [0.5, 0.5],
    [0.1, 0.3],
    [0.9, 0.3],
    [0.1, 0.7],
    [0.9, 0.7],
  ].every(([x = 0, y = 0]) => isAt(button, left + width * x, top + height * y, sight));
  const { scale } = sight;
  return isFree
    ? {
        left: (left - sight.left) * scale,
        top: (top - sight.top) * scale,
        width: width * scale,
        height: height * scale,
      }
    : undefined;
}

function isInside(place: Place, sight: Place, tolerance = TOLERANCE_PX): boolean {
  return (
    place.left >= sight.left - tolerance &&
    place.top >= sight.top - tolerance &&
    place.left + place.width <= sight.left + sight.width + tolerance &&
    place.top + place.height <= sight.top + sight.height + tolerance
  );
}

/** The part of a place that is in sight, if any is. */
function partIn(place: Place, sight: Place): Place | undefined {
  const left = Math.max(place.left, sight.left);
  const top = Math.max(place.top, sight.top);
  const width = Math.min(place.left + place.width, sight.left + sight.width) - left;
  const height = Math.min(place.top + place.height, sight.top + sight.height) - top;
  return width > 0 && height > 0 ? { left, top, width, height } : undefined;
}

/** Whether nothing else is in the middle of a place in a box, and at its edges. */
function isUncovered(box: Element, { left, top, width, height }: Place): boolean {
  const [x, y] = [left + width / 2, top + height / 2];
  const [dx, dy] = [Math.min(EDGE_PX, width / 2), Math.min(EDGE_PX, height / 2)];
  return [
    [x, y],
    [x, top + dy],
    [x, top + height - dy],
    [left + dx, y],
    [left + width - dx, y],
  ].every(([x = 0, y = 0]) => isAt(box, x, y));
}

const isLarge = ({ height }: Place) => height > innerHeight * LARGEST_SHARE;

function isAtMiddle(box: Element, { left, top, width, height }: Place): boolean {
  return isAt(box, left + width / 2, top + height / 2);
}

/** Whether what is to be seen at a point belongs to an element. */
function isAt(element: Element, x: number, y: number, sight?: Sight): boolean {
  if (sight !== undefined && !isInside({ left: x, top: y, width: 0, height: 0 }, sight, 0)) {
    return false;
  }
  const hit = document.elementFromPoint(x, y);
  return hit !== null && element.contains(hit);
}

function isSame(a: Place, b: Place): boolean {
  return (
    Math.abs(a.left - b.left) < TOLERANCE_PX &&
    Math.abs(a.top - b.top) < TOLERANCE_PX &&
    Math.abs(a.width - b.width) < TOLERANCE_PX &&
    Math.abs(a.height - b.height) < TOLERANCE_PX
  );
}
