/** A chat's transport over one WebSocket that may be lost at any time. */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { throwErrors } from './adk-stream-error.ts';
import type { ApiError } from './api-error.ts';
import { ChatWindow, type WindowRequest } from './chat-window.ts';
import { Connection, type ConnectionState } from './connection.ts';
import { withDigests } from './digests.ts';
import { type Envelope, readFrame } from './frame.ts';
import { type HeadersLike, mergeHeaders, resolve } from './resolvable.ts';
import { probeSocket } from './socket-probe.ts';
import { Speech } from './speech.ts';
import { stopTurn } from './stop-turn.ts';
import type { Readable } from './store.ts';
import { approvalsIn } from './stream-position.ts';
import type { AdkStreamChatTransportOptions, PreparedReconnect } from './transport-options.ts';
import { socketUrl } from './web-socket.ts';

type SendOptions<UI_MESSAGE extends UIMessage> = Parameters<
  ChatTransport<UI_MESSAGE>['sendMessages']
>[0];

type ReconnectOptions = Parameters<ChatTransport<UIMessage>['reconnectToStream']>[0];

/** What a chat adds to one request. */
type Additions = {
  headers?: HeadersLike | undefined;
  body?: object | undefined;
  metadata?: unknown;
};

/** A stop is sent as two frames: one that ends the request and its turn, and a ping with this number. */
type Stop = { requestId: string; timestamp: number };

export class AdkStreamChatTransport<UI_MESSAGE extends UIMessage = UIMessage>
  implements ChatTransport<UI_MESSAGE>
{
  /** A resumed stream contains the whole message: chats begin it again. */
  readonly resumeStreamIsReplay = true;

  readonly #options: AdkStreamChatTransportOptions<UI_MESSAGE>;
  readonly #api: string;
  readonly #connection: Connection;
  /** Those that are open, by their requests. */
  readonly #windows = new Map<string, ChatWindow>();
  /** The last one of each chat. */
  readonly #speeches = new Map<string, Speech>();
  /**
   * Stops that the server has not confirmed, by chat. The socket may be lost before the server reads what
   * was sent: the answer to the ping behind a stop shows that it did.
   */
  readonly #stops = new Map<string, Stop>();
  #pings = 0;

  constructor(options: AdkStreamChatTransportOptions<UI_MESSAGE> = {}) {
    this.#options = options;
    this.#api = options.api ?? '/api/chat';
    this.#connection = new Connection(
      {
        open: () => this.#openSocket(),
        whyRefused: () => this.#whyRefused(),
        backoff: options.reconnect,
        heartbeatMs: options.heartbeatMs ?? 25_000,
      },
      {
        isWaiting: () => this.#stops.size + this.#windows.size > 0,
        onOpen: () => {
          for (const [chatId, stop] of this.#stops) {
            this.#sendStop(chatId, stop);
          }
          for (const window of this.#windows.values()) {
            void this.#put(window);
          }
        },
        onData: data => this.#receive(data),
        onLost: (code, reason) => {
          for (const speech of this.#speeches.values()) {
            speech.lost();
          }
          for (const window of this.#windows.values()) {
            window.lost(code, reason);
          }
        },
        onGivenUp: error => this.#giveUp(error),
      },
    );
  }

  /** The state of the connection, for a light in the page. */
  get connection(): Readable<ConnectionState> {
    return this.#connection.state;
  }

  async sendMessages(options: SendOptions<UI_MESSAGE>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, trigger, messageId, abortSignal } = options;
    abortSignal?.throwIfAborted();
    const { prepareSendMessagesRequest: prepare } = this.#options;
    const asked = { id: chatId, messages: options.messages, trigger, messageId };
    const prepared = prepare && (await prepare({ ...asked, ...(await this.#offered(options)) }));
    abortSignal?.throwIfAborted();
    const envelope = () => this.#envelope(options, prepared);
    const said = withDigests(prepared?.messages ?? options.messages, this.#options.digestOf);
    // As they are now: the chat continues with its own while these may have to be sent again.
    const messages: unknown[] = JSON.parse(JSON.stringify(said));
    const shown = options.messages.find(({ id }) => id === messageId) ?? options.messages.at(-1);
    const approvals = shown === undefined ? [] : approvalsIn(shown);
    // What is said now ends the turn before it, and is not to be stopped.
    this.#stops.delete(chatId);
    const send = { kind: 'send', trigger, messageId, messages, approvals, envelope } as const;
    return streamOf(this.#open(chatId, send, abortSignal));
  }

  async reconnectToStream(
    options: ReconnectOptions,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, abortSignal } = options;
    abortSignal?.throwIfAborted();
    // As it is now: what is loaded later is not what this stream is to continue from.
    const after = this.#options.seqOf?.(chatId);
    const body = after === undefined ? options.body : { after, ...options.body };
    const asked = { ...options, body };
    const { prepareReconnectToStreamRequest: prepare } = this.#options;
    const prepared = prepare && (await prepare({ id: chatId, ...(await this.#offered(asked)) }));
    abortSignal?.throwIfAborted();
    const envelope = () => this.#envelope(asked, prepared);
    const window = this.#open(chatId, { kind: 'resume', envelope }, abortSignal);
    return (await window.isThere) ? streamOf(window) : null;
  }

  /**
   * Stops the turn of a chat on the server, and returns whether there was one to stop. Its windows end
   * with what the server says of it.
   */
  stop(chatId: string): Promise<boolean> {
    return stopTurn(this.#options, this.#api, chatId);
  }

  /**
   * Sends audio to a chat whose agent takes it: PCM samples of 16 bits, one channel. Call it before the
   * message that it belongs to is sent, as in `sendMessage({ parts: [{ type: 'data-speech', data: {
   * sampleRate } }] })`; what is written follows that message on the same socket.
   */
  speak(chatId: string, { sampleRate = 16_000 }: { sampleRate?: number } = {}): Speech {
    const speech = new Speech(chatId, sampleRate, frame => this.#connection.send(frame));
    // Somebody speaks once at a time: what still waits for its message was given up.
    this.#speeches.set(chatId, speech);
    return speech;
  }

  /** Closes the connection and every stream that is open. A later request opens another. */
  close(): void {
    this.#giveUp(new Error('The chat transport was closed.'));
    this.#connection.close();
  }

  #giveUp(error: Error): void {
    this.#stops.clear();
    for (const window of this.#windows.values()) {
      window.fail(error);
    }
  }

  #open(chatId: string, request: WindowRequest, abortSignal: AbortSignal | undefined): ChatWindow {
    const waiting = [...this.#windows.values()].filter(window => !window.isOnWire);
    if (waiting.length >= (this.#options.maxWaiting ?? 32)) {
      throw new TypeError('Too many requests wait for the network connection.');
    }
    const onAbort = () => this.#abort(window, abortSignal?.reason);
    const window = new ChatWindow(chatId, request, {
      onProgress: () => this.#connection.progressed(),
      onCancel: () => this.#leave(window),
      onOver: () => {
        this.#windows.delete(window.requestId);
        abortSignal?.removeEventListener('abort', onAbort);
      },
    });
    this.#windows.set(window.requestId, window);
    abortSignal?.addEventListener('abort', onAbort, { once: true });
    if (this.#connection.isOpen) {
      void this.#put(window);
    } else {
      this.#connection.need();
    }
    return window;
  }

  /** Puts a window's request on the wire. */
  async #put(window: ChatWindow): Promise<void> {
    try {
      const envelope = await window.request.envelope();
      // The socket may be another one by now, which has put the request itself.
      if (window.isOnWire || !window.isOpen) {
        return;
      }
      const frame = window.frame(envelope);
      if (this.#connection.send(frame)) {
        window.markSent();
        if (frame.type === 'send') {
          this.#speeches.get(window.chatId)?.begin();
        }
      }
    } catch (error) {
      window.fail(error as Error);
    }
  }

  #receive(data: unknown): void {
    const frame = readFrame(data);
    if (frame === 'foreign') {
      return;
    }
    if (frame === 'garbage') {
      this.#connection.cut('a frame that can not be read');
      return;
    }
    if (frame.type === 'pong') {
      for (const [chatId, { timestamp }] of this.#stops) {
        if (timestamp === frame.timestamp) {
          this.#stops.delete(chatId);
        }
      }
      return;
    }
    if (this.#windows.get(frame.requestId)?.take(frame) === false) {
      this.#connection.cut('a frame that is missing');
    }
  }

  /** The chat was stopped. */
  #abort(window: ChatWindow, reason: Error): void {
    const { chatId, requestId } = window;
    if (this.#options.stopOnAbort === true && window.isStoppable) {
      const stop = { requestId, timestamp: ++this.#pings };
      this.#stops.set(chatId, stop);
      this.#sendStop(chatId, stop);
      this.#connection.need();
    } else {
      this.#leave(window);
    }
    window.abort(reason);
  }

  #sendStop(id: string, { requestId, timestamp }: Stop): void {
    this.#connection.send({ type: 'abort', requestId, stop: true, id });
    this.#connection.send({ type: 'ping', timestamp });
  }

  /** The answer has no reader any more. */
  #leave({ requestId, isOnWire }: ChatWindow): void {
    if (isOnWire) {
      this.#connection.send({ type: 'abort', requestId });
    }
  }

  async #openSocket() {
    const { protocols, webSocket } = this.#options;
    const Socket = webSocket ?? globalThis.WebSocket;
    if (Socket === undefined) {
      throw new Error('There is no WebSocket here: name one in the option `webSocket`.');
    }
    return new Socket(await this.#socketUrl(), protocols);
  }

  /** The address of the next socket: a ticket opens one only. */
  async #socketUrl(): Promise<string> {
    const { url = `${this.#api}/live`, ticket, params } = this.#options;
    const pass = await ticket?.();
    return socketUrl(url, { ...(await resolve(params)), ...(pass && { ticket: pass }) });
  }

  async #whyRefused(): Promise<ApiError | undefined> {
    const url = (await this.#socketUrl()).replace(/^ws/, 'http');
    const { protocols, fetch = globalThis.fetch } = this.#options;
    const refusal = await probeSocket(url, fetch);
    // What the subprotocols say of the caller, a plain request can't.
    return refusal?.status === 401 && protocols !== undefined ? undefined : refusal;
  }

  async #envelope(options: Additions, prepared?: PreparedReconnect): Promise<Envelope> {
    const { headers, body, profile } = this.#options;
    const own = mergeHeaders(await resolve(headers), options.headers);
    const added = { ...(profile && { profile }), ...(await resolve(body)), ...options.body };
    return {
      headers: prepared?.headers ? mergeHeaders(prepared.headers) : own,
      body: prepared?.body ?? added,
      metadata: options.metadata,
    };
  }

  /** What the application may put something else in the place of. */
  async #offered(options: Additions) {
    const { metadata: requestMetadata, ...given } = await this.#envelope(options);
    return { ...given, requestMetadata };
  }
}

function streamOf({ stream }: ChatWindow): ReadableStream<UIMessageChunk> {
  // The server's word for it: what it sends are chunks of the SDK.
  return (stream as ReadableStream<UIMessageChunk>).pipeThrough(throwErrors());
}
