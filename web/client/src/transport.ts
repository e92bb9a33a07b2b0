/** A chat's transport over one WebSocket that may be lost at any time. */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { throwErrors } from './adk-stream-error.ts';
import type { ApiError } from './api-error.ts';
import { ChatApi } from './chat-api.ts';
import { ChatWindow, type WindowRequest } from './chat-window.ts';
import { Connection, type ConnectionState } from './connection.ts';
import { withDigests } from './digests.ts';
import { type AbortFrame, type Envelope, readFrame } from './frame.ts';
import { type HeadersLike, mergeHeaders, resolve } from './resolvable.ts';
import { probeSocket } from './socket-probe.ts';
import { Speech } from './speech.ts';
import type { Readable } from './store.ts';
import type { AdkStreamChatTransportOptions } from './transport-options.ts';
import { socketUrl } from './web-socket.ts';

type SendOptions<UI_MESSAGE extends UIMessage> = Parameters<
  ChatTransport<UI_MESSAGE>['sendMessages']
>[0];

type ReconnectOptions = Parameters<ChatTransport<UIMessage>['reconnectToStream']>[0];

export class AdkStreamChatTransport<UI_MESSAGE extends UIMessage = UIMessage>
  implements ChatTransport<UI_MESSAGE>
{
  /** A resumed stream contains the whole message: chats begin it again. */
  readonly resumeStreamIsReplay = true;

  readonly #options: AdkStreamChatTransportOptions<UI_MESSAGE>;
  readonly #api: string;
  readonly #chats: ChatApi;
  readonly #connection: Connection;
  readonly #windows = new Map<ChatWindow, () => Promise<Envelope>>();
  readonly #speeches = new Set<Speech>();
  /** Stops that the server has not confirmed, by the pings that are sent behind them. */
  readonly #stops = new Map<unknown, AbortFrame & { id: string }>();
  #pings = 0;

  constructor(options: AdkStreamChatTransportOptions<UI_MESSAGE> = {}) {
    this.#options = options;
    this.#api = options.api ?? '/api/chat';
    this.#chats = new ChatApi({
      api: this.#api,
      headers: options.headers,
      fetch: options.fetch,
    });
    const isWaiting = () => this.#stops.size > 0 || this.#waiting.length > 0;
    this.#connection = new Connection(
      {
        open: () => this.#openSocket(),
        whyRefused: () => this.#whyRefused(),
        backoff: options.reconnect,
        heartbeatMs: options.heartbeatMs ?? 25_000,
        probe: () => ({ type: 'ping', timestamp: Date.now() }),
      },
      {
        get isWaiting() {
          return isWaiting();
        },
        onOpen: () => {
          for (const timestamp of this.#stops.keys()) {
            this.#sendStop(timestamp);
          }
          for (const window of this.#waiting) {
            void this.#put(window);
          }
        },
        onData: data => this.#receive(data),
        onLost: (code, reason) => this.#lost(code, reason),
        onGivenUp: error => {
          this.#stops.clear();
          for (const window of this.#waiting) {
            window.fail(error);
          }
        },
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
    const prepared = await this.#prepare(options);
    abortSignal?.throwIfAborted();
    const envelope = async () => ({ ...(await this.#envelope(options)), ...prepared.envelope });
    // As they are now: the chat continues with its own while these may have to be sent again.
    const { messages, base } = JSON.parse(
      JSON.stringify({ messages: prepared.messages, base: baseOf(options) }),
    );
    // What is said now ends the turn before it, and is not to be stopped.
    for (const [timestamp, { id }] of this.#stops) {
      if (id === chatId) {
        this.#stops.delete(timestamp);
      }
    }
    const request: WindowRequest = { kind: 'send', trigger, messageId, messages, base };
    return streamOf(this.#open(chatId, request, envelope, abortSignal));
  }

  async reconnectToStream(
    options: ReconnectOptions,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, abortSignal } = options;
    abortSignal?.throwIfAborted();
    // As it is now: what is loaded later is not what this stream is to continue from.
    const after = this.#options.seqOf?.(chatId);
    const envelope = async () => {
      const { body, ...rest } = await this.#envelope(options);
      return { ...rest, body: after === undefined ? body : { after, ...body } };
    };
    const window = this.#open(chatId, { kind: 'resume' }, envelope, abortSignal);
    const isThere = await window.isThere;
    return isThere ? streamOf(window) : null;
  }

  /**
   * Stops the turn of a chat on the server, and returns whether there was one to stop. Its windows end
   * with what the server says of it.
   */
  stop(chatId: string): Promise<boolean> {
    return this.#chats.stop(chatId);
  }

  /**
   * Sends audio to a chat whose agent takes it: PCM samples of 16 bits, one channel. Call it before the
   * message that it belongs to is sent, as in `sendMessage({ parts: [{ type: 'data-speech', data: {
   * sampleRate } }] })`; what is written follows that message on the same socket.
   */
  speak(chatId: string, { sampleRate = 16_000 }: { sampleRate?: number } = {}): Speech {
    // Somebody speaks once at a time: what still waits for its message was given up.
    for (const before of this.#speeches) {
      if (before.chatId === chatId) {
        this.#speeches.delete(before);
      }
    }
    const speech = new Speech(chatId, sampleRate, frame => this.#connection.send(frame));
    this.#speeches.add(speech);
    return speech;
  }

  /** Closes the connection and every stream that is open. A later request opens another. */
  close(): void {
    for (const window of [...this.#windows.keys()]) {
      window.fail(new Error('The chat transport was closed.'));
    }
    this.#stops.clear();
    this.#connection.close();
  }

  get #waiting(): ChatWindow[] {
    return [...this.#windows.keys()].filter(window => window.isOpen);
  }

  #open(
    chatId: string,
    request: WindowRequest,
    envelope: () => Promise<Envelope>,
    abortSignal: AbortSignal | undefined,
  ): ChatWindow {
    const waiting = this.#waiting.filter(window => !window.isOnWire);
    if (waiting.length >= (this.#options.maxWaiting ?? 32)) {
      throw new TypeError('Too many requests wait for the network connection.');
    }
    const onAbort = () => this.#abort(window, abortSignal);
    const host = {
      onProgress: () => this.#connection.progressed(),
      onOver: () => {
        this.#windows.delete(window);
        abortSignal?.removeEventListener('abort', onAbort);
      },
    };
    const window = new ChatWindow(chatId, request, host, () => {
      this.#leave(window);
      window.end();
    });
    this.#windows.set(window, envelope);
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
    const { generation } = this.#connection;
    try {
      const envelope = await this.#windows.get(window)?.();
      // The socket may be another one by now, which has put the request itself.
      const isCurrent = generation === this.#connection.generation && window.isOpen;
      if (envelope === undefined || !isCurrent) {
        return;
      }
      const frame = window.frame(envelope);
      if (this.#connection.send(frame)) {
        window.markSent(frame);
        if (frame.type === 'send') {
          this.#beginSpeech(window.chatId);
        }
      }
    } catch (error) {
      window.fail(error as Error);
    }
  }

  #beginSpeech(chatId: string): void {
    for (const speech of this.#speeches) {
      if (speech.chatId === chatId && speech.isWaiting) {
        speech.begin();
      }
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
      this.#stops.delete(frame.timestamp);
      return;
    }
    const window = this.#waiting.find(
      ({ requestId, isOnWire }) => isOnWire && requestId === frame.requestId,
    );
    if (window?.take(frame) === false) {
      this.#connection.cut('a frame that is missing');
    }
  }

  #lost(code: number | undefined, reason: string): void {
    for (const speech of this.#speeches) {
      speech.lost();
    }
    for (const window of this.#waiting) {
      if (code === messageTooBig && window.isUnanswered) {
        window.fail(new Error(`The server refused the request: ${reason || 'it is too large'}.`));
      } else {
        window.lost();
      }
    }
  }

  /** The chat was stopped. */
  #abort(window: ChatWindow, signal: AbortSignal | undefined): void {
    const { chatId, requestId, isStarted, isUnanswered, request } = window;
    // Who gives up a resumed stream before it came has seen nothing that could be stopped.
    const isAsked = isStarted || (isUnanswered && request.kind === 'send');
    if ((this.#options.stopOnAbort ?? false) && isAsked) {
      this.#stops.set(++this.#pings, { type: 'abort', requestId, stop: true, id: chatId });
      if (this.#connection.isOpen) {
        this.#sendStop(this.#pings);
      } else {
        this.#connection.need();
      }
    } else {
      this.#leave(window);
    }
    // Callers that wait for it get the reason; its reader sees its end.
    if (request.kind === 'resume' && !isStarted) {
      window.fail(abortError(signal));
    } else {
      window.end();
    }
  }

  /** The socket may be lost before the server reads what was sent: a ping behind it shows that. */
  #sendStop(timestamp: unknown): void {
    const stop = this.#stops.get(timestamp);
    if (stop !== undefined && this.#connection.send(stop)) {
      this.#connection.send({ type: 'ping', timestamp: timestamp as number });
    }
  }

  /** Nobody reads the answer any more. */
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

  async #envelope(options: {
    headers?: HeadersLike | undefined;
    body?: object | undefined;
    metadata?: unknown;
  }): Promise<Envelope> {
    const { headers, body, profile } = this.#options;
    return {
      headers: mergeHeaders(await resolve(headers), options.headers),
      body: { ...(profile && { profile }), ...(await resolve(body)), ...options.body },
      metadata: options.metadata,
    };
  }

  async #prepare(
    options: SendOptions<UI_MESSAGE>,
  ): Promise<{ messages: UI_MESSAGE[]; envelope: Partial<Envelope> }> {
    const { chatId, messages, trigger, messageId } = options;
    const { prepareSendMessagesRequest: prepare, digestOf } = this.#options;
    if (prepare === undefined) {
      return { messages: withDigests(messages, digestOf), envelope: {} };
    }
    const { headers, body, metadata } = await this.#envelope(options);
    const about = { id: chatId, messages, trigger, messageId, headers, body };
    const prepared = await prepare({ ...about, requestMetadata: metadata });
    return {
      messages: withDigests(prepared.messages ?? messages, digestOf),
      envelope: {
        ...(prepared.headers && { headers: mergeHeaders(prepared.headers) }),
        ...(prepared.body && { body: prepared.body }),
      },
    };
  }
}

function streamOf({ stream }: ChatWindow): ReadableStream<UIMessageChunk> {
  // The server's word for it: what it sends are chunks of the SDK.
  return (stream as ReadableStream<UIMessageChunk>).pipeThrough(throwErrors());
}

/** The message that a chat continues with, as chats decide it. */
function baseOf<UI_MESSAGE extends UIMessage>({
  trigger,
  messageId,
  messages,
}: SendOptions<UI_MESSAGE>): UI_MESSAGE | undefined {
  const message = messages.find(({ id }) => id === messageId) ?? messages.at(-1);
  return trigger === 'submit-message' && message?.role === 'assistant' ? message : undefined;
}

/** The close code of a frame that is larger than the server takes: it would be so again. */
const messageTooBig = 1009;

function abortError(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error
    ? signal.reason
    : new DOMException('The chat request was aborted.', 'AbortError');
}
