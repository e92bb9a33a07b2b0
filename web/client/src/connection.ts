/** One socket that is opened when it is needed, and again when it is lost while it is needed. */

import { ApiError } from './api-error.ts';
import { Backoff, type BackoffOptions } from './backoff.ts';
import type { ClientFrame } from './frame.ts';
import type { SpeechFrame } from './speech.ts';
import { type Readable, Store } from './store.ts';
import type { WebSocketLike } from './web-socket.ts';

/**
 * `closed` while nobody needs it, `connecting` also while it waits before it tries again.
 */
export type ConnectionState = 'connecting' | 'open' | 'closed';

export type ConnectionOptions = {
  /** Makes a socket. What may pass by itself is tried again; other errors are final. */
  open: () => Promise<WebSocketLike>;
  /** Asks what a plain request to the socket's address is answered; nothing, where that is not known. */
  whyRefused: () => Promise<ApiError | undefined>;
  backoff: BackoffOptions | undefined;
  /** How long it may be silent until it is asked for a sign of life; 0 is for ever. */
  heartbeatMs: number;
};

export type ConnectionUser = {
  isWaiting(): boolean;
  onOpen(): void;
  onData(data: unknown): void;
  onLost(code: number | undefined, reason: string): void;
  onGivenUp(error: Error): void;
};

/** How long a socket may take to open. */
const openTimeoutMs = 15_000;

/**
 * How often a socket may fail to open while plain requests to its address are answered. Once, the server
 * may have been restarted in between; after that, something on the way does not pass WebSockets on, or
 * the address is not the server's.
 */
const unopenedLimit = 3;

/** What the server answers to whom it opens no socket: no key, or another site. */
const refusals = [401, 403];

/** What is below 500, and may be gone a moment later all the same. */
const passing = [408, 425, 429];

const upgradeRequired = 426;

/** A connection that has held for so long was a good one: what failed before it is forgotten. */
const stableMs = 10_000;

const open = 1;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #user: ConnectionUser;
  readonly #state = new Store<ConnectionState>('closed');
  readonly #backoff: Backoff;
  /** Fires when a socket, or a pause before one, is left: what comes late from it is known as such. */
  #attempt = new AbortController();
  #socket: WebSocketLike | undefined;
  #openedAt = 0;
  #lastMessageAt = 0;
  #probedAt = 0;
  /** Sockets that did not open, one after the other, while the server could be reached. */
  #unopened = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Tries again now, while it waits before it does. */
  #retry: (() => void) | undefined;

  constructor(options: ConnectionOptions, user: ConnectionUser) {
    this.#options = options;
    this.#user = user;
    this.#backoff = new Backoff(options.backoff);
  }

  get state(): Readable<ConnectionState> {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#state.get() === 'open';
  }

  /** Sees to it that there is a socket, now or soon. */
  need(): void {
    if (this.#state.get() === 'closed') {
      this.#backoff.reset();
      void this.#open();
    } else {
      // Somebody has just asked for something: that is worth a try before its time.
      this.#retry?.();
    }
  }

  /** Sends a frame, and returns whether it could be sent. */
  send(frame: ClientFrame | SpeechFrame): boolean {
    if (this.#socket?.readyState !== open) {
      return false;
    }
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  /** Something got through: what failed before is forgotten. */
  progressed(): void {
    this.#backoff.reset();
  }

  /** Gives up a socket that can't be relied on, and opens another if one is needed. */
  cut(reason: string): void {
    this.#lost(undefined, reason);
  }

  close(): void {
    this.#drop('closed by the page');
    this.#state.set('closed');
  }

  async #open(): Promise<void> {
    this.#drop('replaced');
    const { signal } = this.#attempt;
    this.#state.set('connecting');
    let socket: WebSocketLike;
    try {
      socket = await this.#options.open();
    } catch (error) {
      if (!signal.aborted) {
        this.#failed(error);
      }
      return;
    }
    if (signal.aborted) {
      socket.close();
      return;
    }
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#lost(undefined, 'it did not open'), openTimeoutMs);
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }: { data: unknown }) => {
      this.#lastMessageAt = Date.now();
      this.#user.onData(data);
    };
    socket.onerror = () => this.#lost(undefined, '');
    socket.onclose = ({ code, reason }: { code?: number; reason?: string }) =>
      this.#lost(code, reason ?? '');
    if (socket.readyState === open) {
      this.#opened();
    }
  }

  #opened(): void {
    clearTimeout(this.#timer);
    this.#unopened = 0;
    this.#openedAt = Date.now();
    this.#lastMessageAt = this.#openedAt;
    this.#listen();
    this.#state.set('open');
    this.#user.onOpen();
  }

  /**
   * A connection that has silently died looks like a quiet one, and a page can't send the pings that
   * WebSockets have. So it sends one of its own, which the server answers.
   */
  #listen(): void {
    const { heartbeatMs } = this.#options;
    if (heartbeatMs <= 0) {
      return;
    }
    const idleMs = Date.now() - this.#lastMessageAt;
    if (idleMs < heartbeatMs || !this.#user.isWaiting()) {
      const rest = idleMs < heartbeatMs ? heartbeatMs - idleMs : heartbeatMs;
      this.#timer = setTimeout(() => this.#listen(), rest);
    } else if (this.#probedAt > this.#lastMessageAt) {
      this.#lost(undefined, 'it gave no sign of life');
    } else {
      this.#probedAt = Date.now();
      this.send({ type: 'ping', timestamp: this.#probedAt });
      this.#timer = setTimeout(() => this.#listen(), heartbeatMs);
    }
  }

  #lost(code: number | undefined, reason: string): void {
    const wasOpen = this.isOpen;
    if (wasOpen && Date.now() - this.#openedAt >= stableMs) {
      this.#backoff.reset();
    }
    this.#drop(reason);
    // Set first: listeners may read it.
    this.#state.set('connecting');
    if (wasOpen) {
      this.#user.onLost(code, reason);
    }
    const error = lostError(code, reason);
    if (wasOpen || !this.#user.isWaiting()) {
      this.#failed(error);
    } else {
      void this.#notOpened(error);
    }
  }

  /** A socket did not open: what can't get better is not tried again. */
  async #notOpened(error: TypeError): Promise<void> {
    const { signal } = this.#attempt;
    // What goes wrong with the question is no answer to it.
    const refusal = await this.#options.whyRefused().catch(() => undefined);
    if (signal.aborted) {
      return;
    }
    if (refusal === undefined || isPassing(refusal)) {
      this.#unopened = 0;
      this.#failed(refusal ?? error);
    } else if (!refusals.includes(refusal.status) && ++this.#unopened < unopenedLimit) {
      this.#failed(error);
    } else {
      this.#unopened = 0;
      this.#failed(blocks(refusal) ? new WebSocketBlockedError(refusal.status) : refusal);
    }
  }

  #failed(error: unknown): void {
    if (!this.#user.isWaiting()) {
      this.#state.set('closed');
      return;
    }
    const delay = isPassing(error) ? this.#backoff.next() : undefined;
    if (delay === undefined) {
      this.#state.set('closed');
      this.#user.onGivenUp(error instanceof Error ? error : new Error(String(error)));
    } else {
      this.#wait(delay);
    }
  }

  #wait(delay: number): void {
    const { signal } = this.#attempt;
    const retry = () => {
      if (this.#user.isWaiting()) {
        void this.#open();
      } else {
        this.close();
      }
    };
    const whenSeen = () => {
      if (globalThis.document?.visibilityState === 'visible') {
        retry();
      }
    };
    this.#retry = retry;
    this.#timer = setTimeout(retry, delay);
    // When the page becomes visible again, or the network is back, reconnect at once.
    globalThis.addEventListener?.('online', retry, { signal });
    globalThis.document?.addEventListener('visibilitychange', whenSeen, { signal });
  }

  /** Leaves whatever it has or waits for. */
  #drop(reason: string): void {
    this.#attempt.abort();
    this.#attempt = new AbortController();
    this.#retry = undefined;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) {
      socket.onopen = null;
      socket.onmessage = null;
      socket.onclose = null;
      // Not null: some implementations throw an error that nothing catches.
      socket.onerror = () => {};
      try {
        socket.close(1000, reason.slice(0, 100));
      } catch {
        // It is closed already.
      }
    }
  }
}

/** The address can be reached, and not by a WebSocket: something on the way does not pass them on. */
export class WebSocketBlockedError extends Error {
  override readonly name = 'WebSocketBlockedError';
  /** What a plain request to the address was answered. */
  readonly status: number;

  constructor(status: number) {
    super(
      status === upgradeRequired
        ? 'The server can be reached, but not by WebSocket: does a proxy pass the upgrade on?'
        : `The WebSocket does not open, and a plain request to its address is answered with ${status}, as a page would be: is the proxy for WebSockets missing, or does \`api\` name another server?`,
    );
    this.status = status;
  }
}

/** Whether the address would serve a socket, or serves something else to everybody. */
function blocks({ status }: ApiError): boolean {
  return status === upgradeRequired || (status >= 200 && status < 300);
}

/** Whether an error may be gone a moment later: one of the network, or of a server that is busy. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError
    ? error.status >= 500 || passing.includes(error.status)
    : error instanceof TypeError;
}

function lostError(code: number | undefined, reason: string): TypeError {
  const why = [code, reason].filter(word => word !== undefined && word !== '').join(' ');
  // Clients look for "network" to distinguish a lost connection from a fault.
  return new TypeError(
    `The network connection to the chat was lost${why === '' ? '' : ` (${why})`}.`,
  );
}
