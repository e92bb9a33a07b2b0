/** The list of a person's chats, and what they do with one of them. */
import { readJson } from './api-error.ts';
import {
  type ApiAccess,
  type ApiRequest,
  jsonOf,
  requestApi,
  unlessMissing,
} from './api-request.ts';
import type { ChatRow } from './server-events.ts';

export type ChatListOptions = ApiAccess & {
  /** Where the list is served, `/api/chats` if nothing is said. */
  api?: string;
};

export type ChatQuery = {
  /** Words of the title, in upper or lower case. */
  search?: string;
  /** Only those that are archived, or that are not; all, if nothing is said. */
  archived?: boolean;
  /** How many rows a page has: 50 if nothing is said, at most 200. */
  limit?: number;
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined;
};

/** A page may be shorter than its limit, or empty, without being the last: that one has no cursor. */
export type ChatPage = { chats: ChatRow[]; nextCursor?: string };

export type ChatList = {
  /** The chats that match, newest first; `events` says what changes in them. */
  list: (query?: ChatQuery, signal?: AbortSignal) => Promise<ChatPage>;
  /** Names or archives a chat, and returns its row. An empty title restores the first message. */
  update: (chatId: string, change: { title?: string; archived?: boolean }) => Promise<ChatRow>;
  /** Deletes a chat with its journal, if it is there. A running turn is stopped first. */
  remove: (chatId: string) => Promise<void>;
};

export function chatList(options: ChatListOptions = {}): ChatList {
  const { api = '/api/chats' } = options;
  const ask = async (path: string, request?: ApiRequest): Promise<unknown> =>
    readJson(await requestApi(options, `${api}${path}`, request));
  const pathOf = (chatId: string) => `/${encodeURIComponent(chatId)}`;
  // The server's word for what it responds with, as everywhere.
  return {
    list: async ({ search, ...query } = {}, signal) => {
      const given = Object.entries({ ...query, q: search || undefined }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      );
      const page = await ask(`?${new URLSearchParams(given)}`, signal && { signal });
      return page as ChatPage;
    },
    update: async (chatId, change) =>
      (await ask(pathOf(chatId), jsonOf('PATCH', JSON.stringify(change)))) as ChatRow,
    remove: async chatId => {
      await unlessMissing(ask(pathOf(chatId), { method: 'DELETE' }));
    },
  };
}
