import type { Language } from './language.ts';

const formats = new Map<Language, Intl.DateTimeFormat>();

/** The time of day. */
export function timeOf(at: number, language: Language): string {
  let format = formats.get(language);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(language, { timeStyle: 'medium', hourCycle: 'h23' });
    formats.set(language, format);
  }
  return format.format(at);
}
