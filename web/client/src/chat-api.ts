/** What a transport asks of the server besides streams. */
import { type ErrorDetails, readDetails } from './adk-stream-error.ts';
import { ApiError, readJson } from './api-error.ts';
import { isRecord } from './chunk.ts';
import { type HeadersLike, mergeHeaders, type Resolvable, resolve } from './resolvable.ts';

/** A chat as the server has it. */
export type ServedChat = {
  status: string;
  messages: Record<string, unknown>[];
  /** The place in its journal up to which this is true; older servers do not say it. */
  seq: number | undefined;
  /** Why its last turn failed, if it did. */
  error: ErrorDetails | undefined;
};

export type ChatApiOptions = {
  api: string;
  headers?: Resolvable<HeadersLike> | undefined;
  fetch?: typeof globalThis.fetch | undefined;
};

export class ChatApi {
  readonly #options: ChatApiOptions;

  constructor(options: ChatApiOptions) {
    this.#options = options;
  }

  /** The chat as the server has it, or nothing where it has none. */
  async view(chatId: string, signal?: AbortSignal): Promise<ServedChat | undefined> {
    try {
      const view = await this.#ask('GET', chatId, '', signal);
      const { status, messages, seq, error } = isRecord(view) ? view : {};
      return {
        status: typeof status === 'string' ? status : '',
        messages: Array.isArray(messages) ? messages.filter(isRecord) : [],
        seq: typeof seq === 'number' ? seq : undefined,
        error: readDetails(error),
      };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        return undefined;
      }
      throw error;
    }
  }

  /** Whether the chat's journal has something after a place. */
  async hasChanged(chatId: string, seq: number, signal?: AbortSignal): Promise<boolean> {
    const page = await this.#ask('GET', chatId, `/journal?after=${seq}&limit=1`, signal);
    return isRecord(page) && Array.isArray(page.entries) && page.entries.length > 0;
  }

  /** Stops the turn, and returns whether there was one to stop. */
  async stop(chatId: string, signal?: AbortSignal): Promise<boolean> {
    try {
      const answer = await this.#ask('POST', chatId, '/stop', signal);
      return isRecord(answer) && answer.stopped === true;
    } catch (error) {
      // A chat that was never begun has nothing to be stopped.
      if (error instanceof ApiError && error.status === 404) {
        return false;
      }
      throw error;
    }
  }

  async #ask(
    method: string,
    chatId: string,
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { api, headers, fetch = globalThis.fetch } = this.#options;
    const response = await fetch(`${api}/${encodeURIComponent(chatId)}${path}`, {
      method,
      headers: mergeHeaders(await resolve(headers)),
      ...(signal === undefined ? {} : { signal }),
    });
    return readJson(response);
  }
}
