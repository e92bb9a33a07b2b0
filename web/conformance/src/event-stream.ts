/** The bytes of a window, as a server puts them on the wire. */
import type { WindowBody } from './stream.ts';

export function eventStream(window: WindowBody): string {
  if ('raw' in window) {
    return window.raw;
  }
  const events = window.chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`);
  return `${events.join('')}data: [DONE]\n\n`;
}
