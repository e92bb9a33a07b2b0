/** Tickets: a browser can't set headers on a WebSocket, so it brings a pass that it asked for. */
import { readJson } from './api-error.ts';
import { type ApiAccess, requestApi } from './api-request.ts';
import { isRecord } from './chunk.ts';

export type TicketOptions = ApiAccess & {
  /** Where tickets are given: `/api/ticket` if nothing is said. */
  api?: string;
};

/** For a transport's `ticket`: asks for a fresh one each time a socket is opened. */
export function ticketFrom(options: TicketOptions = {}): () => Promise<string> {
  const { api = '/api/ticket' } = options;
  return async () => {
    const answer = await readJson(await requestApi(options, api, { method: 'POST' }));
    if (!isRecord(answer) || typeof answer.ticket !== 'string') {
      throw new Error(`${api} gave no ticket`);
    }
    return answer.ticket;
  };
}
