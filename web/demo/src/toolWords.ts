import { money } from './money.ts';
import { isRecord } from './output.ts';

/** What a call does, in words: the shared wire brings no question. */
export function intent(tool: string, input: unknown): string {
  const field = (name: string) => {
    const value = isRecord(input) ? input[name] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '…';
  };
  switch (tool) {
    case 'process_payment':
      return `Send ${amount(input)} to ${field('recipient')}`;
    case 'get_weather':
      return `Look up the weather in ${field('location')}`;
    case 'get_location':
      return 'Find out where you are';
    case 'change_bgm':
      return `Play track ${field('track')}`;
    case 'book_flight':
      return `Book a flight to ${field('destination')}`;
    case 'set_mood':
      return `Set the mood for ${field('location')}`;
    case 'write_report':
      return `Write a report about ${field('topic')}`;
    default:
      return `Run ${tool}`;
  }
}

function amount(input: unknown): string {
  if (!isRecord(input) || typeof input.amount !== 'number') {
    return '…';
  }
  return money(input.amount, typeof input.currency === 'string' ? input.currency : 'USD');
}
