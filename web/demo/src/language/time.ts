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

const dayFormats = new Map<Language, Intl.DateTimeFormat>();

/** The day and the time of day. */
export function dayOf(at: number, language: Language): string {
  let format = dayFormats.get(language);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(language, {
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    dayFormats.set(language, format);
  }
  return format.format(at);
}
