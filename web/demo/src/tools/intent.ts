import { en, type Words } from '../language/en.ts';
import type { Language } from '../language/language.ts';
import { isRecord } from './output.ts';

/** Whether there are words for what a tool does. */
export function isKnown(tool: string): boolean {
  return Object.hasOwn(en.intent, tool);
}

/** What a call does, in words. */
export function intent(
  tool: string,
  input: unknown,
  words: Words['intent'],
  language: Language,
): string {
  const field = (name: string) => {
    const value = isRecord(input) ? input[name] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '…';
  };
  switch (tool) {
    case 'process_payment':
      return words.process_payment(amount(input, language), field('recipient'));
    case 'get_weather':
      return words.get_weather(field('location'));
    case 'get_location':
      return words.get_location;
    case 'change_bgm':
      return words.change_bgm(field('track'));
    case 'book_flight':
      return words.book_flight(field('destination'));
    case 'set_mood':
      return words.set_mood(field('location'));
    case 'write_report':
      return words.write_report(field('topic'));
    default:
      return words.other(tool);
  }
}

function amount(input: unknown, language: Language): string {
  if (!isRecord(input) || typeof input.amount !== 'number') {
    return '…';
  }
  const currency = typeof input.currency === 'string' ? input.currency : 'USD';
  return money(input.amount, currency, language);
}

/** An amount as people write it. */
export function money(amount: number, currency: string, language: Language): string {
  try {
    const format = new Intl.NumberFormat(language, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: Number.isInteger(amount) ? 0 : 2,
    });
    return format.format(amount);
  } catch {
    // A model may name a currency that there is none of.
    return `${amount} ${currency}`;
  }
}
