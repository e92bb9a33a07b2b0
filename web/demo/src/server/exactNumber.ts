/** Numbers that JavaScript would round, in what is shown and never calculated with. */
import { type ExactJson, readExactJson } from '@adk-stream/client';

/** A number as it was written. */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
    return rawJSON?.(this.text) ?? Number(this.text);
  }
}

/** Only such texts may hold a number that has to be kept: to look at each value costs. */
const longNumber = /\d[\d.]{15}|\d[eE][-+]?\d{3}/;

/** Reads JSON; numbers that would be rounded become {@link ExactNumber}s. */
export function parseExactly(text: string): unknown {
  return longNumber.test(text) ? plainOf(readExactJson(text)) : JSON.parse(text);
}

function plainOf(json: ExactJson): unknown {
  switch (json.kind) {
    case 'object':
      return Object.fromEntries(json.entries.map(([name, value]) => [name, plainOf(value)]));
    case 'array':
      return json.items.map(plainOf);
    case 'number': {
      const value = Number(json.text);
      return isRounded(value, json.text) ? new ExactNumber(json.text) : value;
    }
    default:
      return JSON.parse(json.text);
  }
}

/** Digits alone: `1.0` and `1` are one number. */
function isRounded(value: number, source: string): boolean {
  return !Number.isFinite(value) || digits(String(value)) !== digits(source);
}

function digits(number: string): string {
  const [mantissa = ''] = number.toLowerCase().split('e');
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
}
