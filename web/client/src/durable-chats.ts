/** What a page needs of the server for chats that survive it: made once, shared by all its chats. */
import type { ChatTransport, UIMessage } from 'ai';
import { type Approvals, approvals } from './approvals.ts';
import { ChatApi, type ChatBranch, type WhileRunning } from './chat-api.ts';
import { type ChatList, chatList } from './chat-list.ts';
import type { HeadersLike, Resolvable } from './resolvable.ts';
import { type ServerEvents, serverEvents } from './server-events.ts';
import { stopTurn } from './stop-turn.ts';
import { type StoredChats, storedChats } from './stored-chats.ts';
import { ticketFrom } from './ticket.ts';
import { AdkStreamChatTransport } from './transport.ts';

export type DurableChatsOptions<UI_MESSAGE extends UIMessage = UIMessage> = {
  /** Where the server's routes are, `/api` if nothing is said. */
  base?: string;
  /** Sent with every request; with them, the socket is opened with a ticket. */
  headers?: Resolvable<HeadersLike>;
  fetch?: typeof globalThis.fetch;
  /** `v7` asks the server for chunks that only version 7 knows (7.0.70 or newer). */
  profile?: 'shared' | 'v7';
  /**
   * Another transport than the WebSocket: made with what it needs to resume a chat that was loaded, and to
   * bind answers to what was shown where no durable chat does that.
   */
  transport?: (
    loaded: Pick<StoredChats<UI_MESSAGE>, 'seqOf' | 'prepareReconnectToStreamRequest'> &
      Pick<Approvals, 'digestOf'>,
  ) => ChatTransport<UI_MESSAGE>;
};

export type DurableChats<UI_MESSAGE extends UIMessage = UIMessage> = StoredChats<UI_MESSAGE> &
  ChatList & {
    readonly transport: ChatTransport<UI_MESSAGE>;
    readonly events: ServerEvents;
    /** Answers approvals and questions; its list is read when somebody asks for it. */
    readonly approvals: Approvals;
    /** Stops the turn of a chat, and returns whether there was one to stop. */
    stop: (chatId: string) => Promise<boolean>;
    /** Sends a message that waits while a turn is open. When this returns, the server has it. */
    enqueue: (chatId: string, message: UI_MESSAGE, whileRunning: WhileRunning) => Promise<void>;
    /** What edits and other tries cut off, oldest first. */
    branches: (chatId: string) => Promise<ChatBranch<UI_MESSAGE>[]>;
    /** Makes the branch of a message the one that the chat is on. */
    selectBranch: (chatId: string, messageId: string) => Promise<void>;
  };

export function durableChats<UI_MESSAGE extends UIMessage = UIMessage>(
  options: DurableChatsOptions<UI_MESSAGE> = {},
): DurableChats<UI_MESSAGE> {
  const { base = '/api', headers, fetch, profile } = options;
  const api = `${base}/chat`;
  const asked = { headers, fetch };
  const chatApi = new ChatApi(api, asked);
  const stored = storedChats<UI_MESSAGE>({ api, ...asked });
  const events = serverEvents({ api: `${base}/events`, ...asked });
  const open = approvals({ api: `${base}/approvals`, events, ...asked });
  const { seqOf, prepareReconnectToStreamRequest } = stored;
  const { digestOf } = open;
  const transport =
    options.transport?.({ seqOf, prepareReconnectToStreamRequest, digestOf }) ??
    new AdkStreamChatTransport<UI_MESSAGE>({
      api,
      seqOf,
      digestOf,
      ...asked,
      ...(headers !== undefined && { ticket: ticketFrom({ api: `${base}/ticket`, ...asked }) }),
      ...(profile !== undefined && { profile }),
    });
  return {
    ...stored,
    ...chatList({ api: `${base}/chats`, ...asked }),
    transport,
    events,
    approvals: open,
    stop: chatId => stopTurn(asked, api, chatId),
    enqueue: (chatId, message, whileRunning) => chatApi.enqueue(chatId, message, whileRunning),
    // The server's word for it, as the messages of every stream are.
    branches: chatId => chatApi.branches(chatId) as Promise<ChatBranch<UI_MESSAGE>[]>,
    selectBranch: (chatId, messageId) => chatApi.selectBranch(chatId, messageId),
  };
}
