/** A value that can be watched: the shape that React's `useSyncExternalStore` takes. */
export type Readable<T> = {
  get: () => T;
  /** Calls the listener after every change, until the returned function is called. */
  subscribe: (listener: () => void) => () => void;
};

export class Store<T> implements Readable<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();
  readonly #watch: (() => () => void) | undefined;
  #leave: (() => void) | undefined;

  /** With what is to be done while somebody listens: it begins that, and returns how it ends. */
  constructor(value: T, watch?: () => () => void) {
    this.#value = value;
    this.#watch = watch;
  }

  readonly get = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    // Wrapped, so that a listener that subscribes twice is called twice and leaves twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    if (this.#listeners.size === 1) {
      this.#leave = this.#watch?.();
    }
    return () => {
      if (this.#listeners.delete(entry) && this.#listeners.size === 0) {
        this.#leave?.();
      }
    };
  };

  set(value: T): void {
    if (!Object.is(value, this.#value)) {
      this.#value = value;
      for (const listener of [...this.#listeners]) {
        listener();
      }
    }
  }
}
