import { type ExactJson, exactField } from '@adk-stream/client';
import { en, type Words } from '../language/en.ts';
import type { Language } from '../language/language.ts';
import { escaped } from './spoofing.ts';

/** Whether there are words for what a tool does. */
export function isKnown(tool: string): boolean {
  return Object.hasOwn(en.intent, tool);
}

/**
 * What a call does, in the page's words. They help to read and are nothing to consent to: that is the
 * server's question. Values are escaped, and isolated from the words around them.
 */
export function intent(
  tool: string,
  input: ExactJson,
  words: Words['intent'],
  language: Language,
): string {
  const field = (name: string) => {
    const value = exactField(input, name);
    if (value?.kind === 'string') {
      return isolated(short(value.value));
    }
    return value?.kind === 'number' ? value.text : '…';
  };
  switch (tool) {
    case 'process_payment':
      return words.process_payment(isolated(amount(input, language)), field('recipient'));
    case 'get_weather':
      return words.get_weather(field('location'));
    case 'get_location':
      return words.get_location;
    case 'change_bgm':
      return words.change_bgm(field('track'));
    case 'book_flight':
      return words.book_flight(field('destination'));
    case 'book_table':
      return words.book_table;
    case 'set_mood':
      return words.set_mood(field('location'));
    case 'write_report':
      return words.write_report(field('topic'));
    default:
      return words.other(isolated(short(tool)));
  }
}

/** Longer values are shown in the fields. */
const LONGEST = 80;

function short(value: string): string {
  const characters = [...value.slice(0, 2 * LONGEST)];
  const isCut = characters.length > LONGEST || value.length > 2 * LONGEST;
  return escaped(isCut ? `${characters.slice(0, LONGEST).join('')}…` : value);
}

const ltrOnly =
  /^[\x20-\x7e\p{Sc}…\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]*$/u;

/** A value that is written from the right turns nothing but itself. */
function isolated(value: string): string {
  return ltrOnly.test(value) ? value : `\u2068${value}\u2069`;
}

function amount(input: ExactJson, language: Language): string {
  const value = exactField(input, 'amount');
  const currency = exactField(input, 'currency');
  if (value?.kind !== 'number') {
    return '…';
  }
  return money(value.text, currency?.kind === 'string' ? currency.value : 'USD', language);
}

/** Numbers that every digit of is kept of when they are formatted. */
const plainNumber = /^-?\d{1,15}(?:\.\d{1,2})?$/;

/** An amount as people write it; one that would have to be rounded as it is. */
export function money(amount: string, currency: string, language: Language): string {
  const isExact = plainNumber.test(amount) && amount.replace(/[-.]/g, '').length <= 15;
  if (isExact && /^[A-Z]{3}$/.test(currency)) {
    try {
      const format = new Intl.NumberFormat(language, {
        style: 'currency',
        currency,
        currencyDisplay: 'narrowSymbol',
        minimumFractionDigits: amount.includes('.') ? 2 : 0,
        maximumFractionDigits: 2,
      });
      return format.format(Number(amount));
    } catch {
      // Some browsers know fewer currencies than others.
    }
  }
  return `${amount} ${short(currency)}`;
}
