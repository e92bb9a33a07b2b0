/** What is remembered of things without number: of the newest of them. */
export class RecentMap<VALUE> extends Map<string, VALUE> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: string, value: VALUE): this {
    // Last in order, also if it was there before.
    this.delete(key);
    super.set(key, value);
    const oldest = this.keys().next();
    if (this.size > this.#limit && oldest.done !== true) {
      this.delete(oldest.value);
    }
    return this;
  }
}
