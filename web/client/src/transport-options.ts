/** What an application says of its transport. */
import type { UIMessage } from 'ai';
import type { BackoffOptions } from './backoff.ts';
import type { HeadersLike, Resolvable } from './resolvable.ts';
import type { WebSocketConstructor } from './web-socket.ts';

export type AdkStreamChatTransportOptions<UI_MESSAGE extends UIMessage = UIMessage> = {
  /** Where the chats are served, `/api/chat` if nothing is said. */
  api?: string;
  /** Where the socket is served, `{api}/live` if nothing is said; `http` is taken for `ws`. */
  url?: string;
  /** Gives a pass for the socket each time one is opened, or none; see `ticketFrom`. */
  ticket?: () => string | undefined | PromiseLike<string | undefined>;
  /** Sent with every HTTP request and in every frame. */
  headers?: Resolvable<HeadersLike> | undefined;
  /** What the application adds to its requests. */
  body?: Resolvable<object>;
  /** More for the query of the socket's address. */
  params?: Resolvable<Record<string, string>>;
  protocols?: string | string[];
  /**
   * `v7` asks the server for chunks that only version 7 knows (7.0.70 or newer); only such a chat
   * can be made to forget an answer that was begun again.
   */
  profile?: 'shared' | 'v7';
  /**
   * Whether a chat that is aborted also stops the turn on the server; `false` if nothing is said.
   * Version 7's `useChat` aborts when it unmounts, too, which is no reason to stop a turn: let the
   * button call {@link AdkStreamChatTransport.stop}.
   */
  stopOnAbort?: boolean;
  /** How a lost connection is tried again. */
  reconnect?: BackoffOptions;
  /** How long the server may be silent until it is asked for a sign of life; 0 is for ever. */
  heartbeatMs?: number;
  /** How many requests may wait for the connection. */
  maxWaiting?: number;
  /**
   * What was shown of an approval, as `approvals().digestOf` knows it: sent with the answer. If nothing
   * is given, what came with the question in the stream.
   */
  digestOf?: (approvalId: string) => string | undefined;
  /**
   * Up to where a chat was loaded, as `storedChats().seqOf` knows it: sent when a stream is resumed, so
   * that a turn which ended since is streamed to its end.
   */
  seqOf?: (chatId: string) => number | undefined;
  /** The socket to use, where there is none in the environment. */
  webSocket?: WebSocketConstructor;
  fetch?: typeof globalThis.fetch | undefined;
  /** Changes what is sent, as in the SDK's own transports. */
  prepareSendMessagesRequest?: (request: {
    id: string;
    messages: UI_MESSAGE[];
    requestMetadata: unknown;
    body: object;
    headers: Record<string, string>;
    trigger: 'submit-message' | 'regenerate-message';
    messageId: string | undefined;
  }) => Prepared<UI_MESSAGE> | PromiseLike<Prepared<UI_MESSAGE>>;
  /** The same for a stream that is resumed; in the body, `after` is what `seqOf` says. */
  prepareReconnectToStreamRequest?: (request: {
    id: string;
    requestMetadata: unknown;
    body: object;
    headers: Record<string, string>;
  }) => PreparedReconnect | PromiseLike<PreparedReconnect>;
};

/** What is sent in place of what the chat asked for. */
export type Prepared<UI_MESSAGE> = PreparedReconnect & { messages?: UI_MESSAGE[] };

export type PreparedReconnect = { body?: object; headers?: HeadersLike };
