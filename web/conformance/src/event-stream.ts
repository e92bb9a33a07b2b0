/** The bytes of a window, as a server puts them on the wire, and what is in them. */
import type { Chunk, WindowBody } from './stream.ts';

export const done = '[DONE]';

export function eventStream(window: WindowBody): string {
  if ('raw' in window) {
    return window.raw;
  }
  const events = window.chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`);
  return `${events.join('')}data: ${done}\n\n`;
}

/** The data of the events of a body. One without its blank line is lost, as it is on the client. */
export function eventData(body: string): string[] {
  return body
    .split('\n\n')
    .slice(0, -1)
    .flatMap(event => {
      const lines = event.split('\n').filter(line => line.startsWith('data:'));
      return lines.length === 0 ? [] : lines.map(line => line.replace(/^data: ?/, '')).join('\n');
    });
}

export function chunksOf(body: string): Chunk[] {
  return eventData(body)
    .filter(data => data !== done)
    .map(data => JSON.parse(data) as Chunk);
}
