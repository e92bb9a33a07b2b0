/**
 * JSON as it was written. `JSON.parse` rounds integers beyond 2^53 and long decimals; what a person
 * approves has to be shown, and sent back, to the last digit.
 */
export type ExactJson =
  | {
      readonly kind: 'object';
      readonly text: string;
      readonly entries: readonly (readonly [name: string, value: ExactJson])[];
    }
  | { readonly kind: 'array'; readonly text: string; readonly items: readonly ExactJson[] }
  | { readonly kind: 'string'; readonly text: string; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: string }
  | { readonly kind: 'null'; readonly text: string };

/** Deeper values are refused: reading them would take more stack than a browser gives. */
const MAX_DEPTH = 256;

/** Reads a JSON text; each value keeps its own text. Throws a `SyntaxError` where it is none. */
export function readExactJson(text: string): ExactJson {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

/** The value of a name in an object; of a name that is there twice the last one, as everywhere. */
export function exactField(json: ExactJson | undefined, name: string): ExactJson | undefined {
  return json?.kind === 'object' ? json.entries.findLast(([key]) => key === name)?.[1] : undefined;
}

const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;

class Reader {
  #at = 0;

  constructor(readonly text: string) {}

  value(depth: number): ExactJson {
    if (depth > MAX_DEPTH) {
      throw new SyntaxError(`JSON is nested deeper than ${MAX_DEPTH} levels`);
    }
    this.#match(space);
    const from = this.#at;
    switch (this.text[from]) {
      case '{': {
        const entries = this.#list('}', () => {
          this.#match(space);
          const name = this.#string();
          this.#expect(':');
          return [name.value, this.value(depth + 1)] as const;
        });
        return { kind: 'object', text: this.text.slice(from, this.#at), entries };
      }
      case '[': {
        const items = this.#list(']', () => this.value(depth + 1));
        return { kind: 'array', text: this.text.slice(from, this.#at), items };
      }
      case '"':
        return this.#string();
      default:
        return this.#plain();
    }
  }

  end(): void {
    this.#match(space);
    if (this.#at < this.text.length) {
      this.#fail();
    }
  }

  #list<T>(close: string, item: () => T): T[] {
    const items: T[] = [];
    this.#at += 1;
    this.#match(space);
    if (this.text[this.#at] === close) {
      this.#at += 1;
      return items;
    }
    for (;;) {
      items.push(item());
      this.#match(space);
      if (this.text[this.#at] === close) {
        this.#at += 1;
        return items;
      }
      this.#expect(',');
    }
  }

  #string(): Extract<ExactJson, { kind: 'string' }> {
    const from = this.#at;
    if (this.text[from] !== '"') {
      this.#fail();
    }
    let to = from;
    do {
      to = this.text.indexOf('"', to + 1);
      if (to === -1) {
        this.#fail();
      }
    } while (isEscaped(this.text, to));
    this.#at = to + 1;
    const text = this.text.slice(from, this.#at);
    // It says no to control characters and to escapes that there are none of.
    return { kind: 'string', text, value: JSON.parse(text) as string };
  }

  #plain(): ExactJson {
    const word = this.#match(literal);
    if (word !== '') {
      return word === 'null' ? { kind: 'null', text: word } : { kind: 'boolean', text: word };
    }
    const digits = this.#match(number);
    return digits === '' ? this.#fail() : { kind: 'number', text: digits };
  }

  #expect(sign: string): void {
    this.#match(space);
    if (this.text[this.#at] !== sign) {
      this.#fail();
    }
    this.#at += 1;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #fail(): never {
    throw new SyntaxError(`JSON can't be read at position ${this.#at}`);
  }
}

/** Whether an odd number of backslashes is before a place. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === '\\') {
    before -= 1;
  }
  return (at - before) % 2 === 1;
}
