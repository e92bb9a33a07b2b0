/** Turns that are to be stopped while there is no socket to say so on. */
import type { ChatApi } from './chat-api.ts';
import { retry } from './retry.ts';

export class Stops {
  readonly #chats: ChatApi;
  readonly #pending = new Map<string, { done: Promise<void>; control: AbortController }>();

  constructor(chats: ChatApi) {
    this.#chats = chats;
  }

  /** Stops the turn of a chat, as soon as the server can be reached. */
  begin(chatId: string): void {
    if (this.#pending.has(chatId)) {
      return;
    }
    const control = new AbortController();
    const stop = () => this.#chats.stop(chatId, AbortSignal.timeout(10_000));
    const done = retry(stop, control.signal)
      // Nothing waits for it: the page has closed its window, and shows the server's state
      // when it looks again.
      .catch(() => {})
      .then(() => {
        this.#pending.delete(chatId);
      });
    this.#pending.set(chatId, { done, control });
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
