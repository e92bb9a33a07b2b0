/** How long to wait before trying again. */

export type BackoffOptions = {
  /** The first pause, in milliseconds; it doubles with every try. */
  minDelayMs?: number;
  /** The longest pause, in milliseconds. */
  maxDelayMs?: number;
  /** How many tries may fail one after the other until it is given up. */
  attempts?: number;
};

export class Backoff {
  readonly #min: number;
  readonly #max: number;
  readonly #attempts: number;
  #failed = 0;

  constructor({ minDelayMs = 250, maxDelayMs = 10_000, attempts = 30 }: BackoffOptions = {}) {
    this.#min = minDelayMs;
    this.#max = maxDelayMs;
    this.#attempts = attempts;
  }

  /** The pause after one more failure, or nothing when it is time to give up. */
  next(): number | undefined {
    if (this.#failed >= this.#attempts) {
      return undefined;
    }
    const delay = Math.min(this.#max, this.#min * 2 ** this.#failed++);
    // Half of it by chance: a server that comes back is not met by all its clients at once.
    return delay / 2 + Math.random() * (delay / 2);
  }

  reset(): void {
    this.#failed = 0;
  }
}
