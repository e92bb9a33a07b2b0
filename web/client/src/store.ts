/** A value that can be watched: the shape that React's `useSyncExternalStore` takes. */
export type Readable<T> = {
  get: () => T;
  /** Calls the listener after every change, until the returned function is called. */
  subscribe: (listener: () => void) => () => void;
};

export class Store<T> implements Readable<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    // Wrapped, so that a listener that subscribes twice is called twice and leaves twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
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
