/** What a transport asks of the server besides streams. */
import type { UIMessage } from 'ai';
import { type ErrorDetails, readDetails } from './adk-stream-error.ts';
import { ApiError, readJson, readRefusal } from './api-error.ts';
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
  /** The messages that wait for its turn. */
  queued: QueuedMessage[];
};

/** What a message does that comes while a turn is open: it waits for the end, or for the next step. */
export type WhileRunning = 'queue' | 'inject';

/** A message that waits. */
export type QueuedMessage<UI_MESSAGE extends UIMessage = UIMessage> = {
  whileRunning: WhileRunning;
  message: UI_MESSAGE;
};

/** Messages that an edit or another try cut off together. */
export type ChatBranch<UI_MESSAGE extends UIMessage = UIMessage> = {
  /** The agent's message that they follow; null, where they open the chat. */
  after: string | null;
  openedAt: number;
  /** When what the chat has in their place was sent, if it has anything there. */
  currentOpenedAt?: number;
  messages: UI_MESSAGE[];
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
      const view = await this.#ask('GET', chatId, '', { signal });
      const { status, messages, seq, error, queued } = isRecord(view) ? view : {};
      return {
        status: typeof status === 'string' ? status : '',
        messages: Array.isArray(messages) ? messages.filter(isRecord) : [],
        seq: typeof seq === 'number' ? seq : undefined,
        error: readDetails(error),
        // The server's word for it, as the messages are.
        queued: Array.isArray(queued) ? queued : [],
      };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        return undefined;
      }
      throw error;
    }
  }

  /** Sends a message that waits while a turn is open. When this returns, the server has it. */
  async enqueue(chatId: string, message: UIMessage, whileRunning: WhileRunning): Promise<void> {
    const body = { id: chatId, message, trigger: 'submit-message', whileRunning };
    const response = await this.#fetch('POST', '', { body });
    if (!response.ok) {
      throw await readRefusal(response);
    }
    // A window on the turn that answers it: the chat reads that when its turn has come.
    await response.body?.cancel();
  }

  /** What edits and other tries cut off, oldest first. */
  async branches(chatId: string): Promise<ChatBranch[]> {
    const list = await this.#ask('GET', chatId, '/branches');
    return isRecord(list) && Array.isArray(list.branches) ? list.branches : [];
  }

  /** Makes the branch of a message the one that the chat is on. */
  async selectBranch(chatId: string, messageId: string): Promise<void> {
    await this.#ask('POST', chatId, '/branches', { body: { messageId } });
  }

  /** Stops the turn, and returns whether there was one to stop. */
  async stop(chatId: string, signal?: AbortSignal): Promise<boolean> {
    try {
      const answer = await this.#ask('POST', chatId, '/stop', { signal });
      return isRecord(answer) && answer.stopped === true;
    } catch (error) {
      // A chat that was never begun has nothing to be stopped.
      if (error instanceof ApiError && error.status === 404) {
        return false;
      }
      throw error;
    }
  }

  async #ask(method: string, chatId: string, path: string, init: Init = {}): Promise<unknown> {
    return readJson(await this.#fetch(method, `/${encodeURIComponent(chatId)}${path}`, init));
  }

  async #fetch(method: string, path: string, { signal, body }: Init): Promise<Response> {
    const { api, headers, fetch = globalThis.fetch } = this.#options;
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(`${api}${path}`, {
      method,
      headers: mergeHeaders(await resolve(headers), type),
      ...(signal && { signal }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}

type Init = { signal?: AbortSignal | undefined; body?: object };
