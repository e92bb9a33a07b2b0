/** Turns that are being stopped. */
import type { ChatApi } from './chat-api.ts';
import { retry } from './retry.ts';

/** How long a request may stay unanswered until its turn is stopped all the same. */
const patienceMs = 5_000;

export class Stops {
  readonly #chats: ChatApi;
  readonly #pending = new Map<string, { done: Promise<void>; control: AbortController }>();
  /** Requests whose turns are stopped when the server shows that it has heard of them. */
  readonly #unheard = new Map<string, () => void>();

  constructor(chats: ChatApi) {
    this.#chats = chats;
  }

  /** Whether it listens for an answer to a request. */
  get isListening(): boolean {
    return this.#unheard.size > 0;
  }

  /** Stops the turn of a chat, as soon as the server can be reached. */
  begin(chatId: string, heard: Promise<void> = Promise.resolve()): void {
    if (this.#pending.has(chatId)) {
      return;
    }
    const control = new AbortController();
    const stop = () => this.#chats.stop(chatId, AbortSignal.timeout(10_000));
    const done = heard
      .then(() => retry(stop, control.signal))
      // Nobody waits to hear of it: the page has closed its window, and shows what the server says
      // when it looks again.
      .catch(() => {})
      .then(() => {
        this.#pending.delete(chatId);
      });
    this.#pending.set(chatId, { done, control });
  }

  /** The same for a request that may be on its way: a stop that overtakes it stops nothing. */
  beginWhenHeard(chatId: string, requestId: string, onHeard: () => void): void {
    const heard = new Promise<void>(resolve => {
      const done = () => {
        clearTimeout(timer);
        this.#unheard.delete(requestId);
        onHeard();
        resolve();
      };
      const timer = setTimeout(done, patienceMs);
      this.#unheard.set(requestId, done);
    });
    this.begin(chatId, heard);
  }

  /** The server has answered a request. */
  heard(requestId: string): void {
    this.#unheard.get(requestId)?.();
  }

  /** The server will answer none of them. */
  lost(): void {
    for (const done of [...this.#unheard.values()]) {
      done();
    }
  }

  /**
   * Resolves when no stop is on its way to a chat: a late one would stop what is said next. One that
   * could not be delivered yet is given up.
   */
  async settled(chatId: string): Promise<void> {
    const pending = this.#pending.get(chatId);
    pending?.control.abort();
    await pending?.done;
  }
}
