/** Chats as the server keeps them, and up to where a page has loaded each. */
import type { UIMessage } from 'ai';
import type { ApiAccess } from './api-request.ts';
import { ChatApi, type StoredChat } from './chat-api.ts';

export type StoredChatsOptions = ApiAccess & {
  /** Where the chats are served, `/api/chat` if nothing is said. */
  api?: string;
};

export type StoredChats<UI_MESSAGE extends UIMessage = UIMessage> = {
  /** Loads a chat; nothing, where the server has none. */
  load(chatId: string, signal?: AbortSignal): Promise<StoredChat<UI_MESSAGE> | undefined>;
  /** Up to where a chat was loaded last; for the option `seqOf` of the WebSocket transport. */
  seqOf(chatId: string): number | undefined;
  /** Takes note of a chat that the page has loaded by itself. */
  note(chatId: string, seq: number | undefined): void;
  /** For the option of the same name of the SDK's `DefaultChatTransport`. */
  prepareReconnectToStreamRequest(request: { api: string; id: string }): { api?: string };
};

/**
 * Loads chats, and remembers up to where, so that a resumed stream includes what happened since:
 * also the end of a turn that was being said when its chat was loaded.
 */
export function storedChats<UI_MESSAGE extends UIMessage = UIMessage>(
  options: StoredChatsOptions = {},
): StoredChats<UI_MESSAGE> {
  const chats = new ChatApi(options.api ?? '/api/chat', options);
  const seqs = new Map<string, number>();
  const seqOf = (chatId: string) => seqs.get(chatId);
  const note = (chatId: string, seq: number | undefined) => {
    if (seq === undefined) {
      seqs.delete(chatId);
    } else {
      seqs.set(chatId, seq);
    }
  };
  return {
    seqOf,
    note,
    load: async (chatId, signal) => {
      const chat = await chats.view<UI_MESSAGE>(chatId, signal);
      note(chatId, chat?.seq);
      return chat;
    },
    prepareReconnectToStreamRequest: ({ api, id }) => {
      const seq = seqOf(id);
      return seq === undefined
        ? {}
        : { api: `${api}/${encodeURIComponent(id)}/stream?after=${seq}` };
    },
  };
}
