/** What a page asks of the server of one chat, besides streams. */
import type { UIMessage } from 'ai';
import { type ErrorDetails, readDetails } from './adk-stream-error.ts';
import { readJson, readRefusal } from './api-error.ts';
import {
  type ApiAccess,
  type ApiRequest,
  jsonOf,
  requestApi,
  unlessMissing,
} from './api-request.ts';
import { isRecord } from './chunk.ts';

/** A chat as it was loaded. */
export type StoredChat<UI_MESSAGE extends UIMessage = UIMessage> = {
  status: 'running' | 'parked' | 'finished' | 'failed' | 'stopped';
  messages: UI_MESSAGE[];
  /** The place in the chat's journal up to which this is true. */
  seq: number | undefined;
  /** Why its last turn failed, if it did. */
  error: ErrorDetails | undefined;
  /** The messages that wait for its turn. */
  queued: QueuedMessage<UI_MESSAGE>[];
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

export class ChatApi {
  readonly #api: string;
  readonly #access: ApiAccess;

  constructor(api: string, access: ApiAccess) {
    this.#api = api;
    this.#access = access;
  }

  /** The chat as the server has it, or nothing where it has none. */
  async view<UI_MESSAGE extends UIMessage>(
    chatId: string,
    signal?: AbortSignal,
  ): Promise<StoredChat<UI_MESSAGE> | undefined> {
    const view = await unlessMissing(this.#ask(chatId, '', signal && { signal }));
    // The server's word for it, as the messages of every stream are.
    return isRecord(view)
      ? ({ queued: [], ...view, error: readDetails(view.error) } as never)
      : undefined;
  }

  /** Sends a message that waits while a turn is open. When this returns, the server has it. */
  async enqueue(chatId: string, message: UIMessage, whileRunning: WhileRunning): Promise<void> {
    const body = { id: chatId, message, trigger: 'submit-message', whileRunning };
    const response = await requestApi(
      this.#access,
      this.#api,
      jsonOf('POST', JSON.stringify(body)),
    );
    if (!response.ok) {
      throw await readRefusal(response);
    }
    // A window on the turn that answers it: the chat reads that when its turn has come.
    await response.body?.cancel();
  }

  /** What edits and other tries cut off, oldest first. */
  async branches(chatId: string): Promise<ChatBranch[]> {
    const list = await this.#ask(chatId, '/branches');
    return isRecord(list) && Array.isArray(list.branches) ? list.branches : [];
  }

  /** Makes the branch of a message the one that the chat is on. */
  async selectBranch(chatId: string, messageId: string): Promise<void> {
    await this.#ask(chatId, '/branches', jsonOf('POST', JSON.stringify({ messageId })));
  }

  async #ask(chatId: string, path: string, request?: ApiRequest): Promise<unknown> {
    const url = `${this.#api}/${encodeURIComponent(chatId)}${path}`;
    return readJson(await requestApi(this.#access, url, request));
  }
}
