/** Tickets: a browser can't set headers on a WebSocket, so it brings a pass that it asked for. */
import { readJson } from './api-error.ts';
import { isRecord } from './chunk.ts';
import { type HeadersLike, mergeHeaders, type Resolvable, resolve } from './resolvable.ts';

export type TicketOptions = {
  /** Where tickets are given: `/api/ticket` if nothing is said. */
  api?: string;
  /** Headers by which the server identifies the caller, such as `authorization`. */
  headers?: Resolvable<HeadersLike>;
  fetch?: typeof globalThis.fetch;
};

/** For a transport's `ticket`: asks for a fresh one each time a socket is opened. */
export function ticketFrom(options: TicketOptions = {}): () => Promise<string> {
  return async () => {
    const { api = '/api/ticket', headers, fetch = globalThis.fetch } = options;
    const response = await fetch(api, {
      method: 'POST',
      headers: mergeHeaders(await resolve(headers)),
    });
    const answer = await readJson(response);
    if (!isRecord(answer) || typeof answer.ticket !== 'string') {
      throw new Error(`${api} gave no ticket`);
    }
    return answer.ticket;
  };
}
