/** How a page reaches the server, with every request and everything that comes noted. */
import type { UIMessage } from 'ai-7';
import type { Refusal } from './api.ts';
import type { Script, WindowRecord } from './script.ts';

/**
 * The way that windows take: an event stream for each, or one socket for all, in the official frames
 * or in the legacy dialect.
 */
export type Transport = 'sse' | 'socket' | 'legacy';

/**
 * What a page sends of a chat: its whole history, as the stock transport does, or its last message, as
 * applications do that leave the history to the server.
 */
export type Sends = 'history' | 'last-message';

/** What the client asks. */
export type ChatRequest = {
  id: string;
  messages: UIMessage[];
  trigger: 'submit-message' | 'regenerate-message';
  messageId?: string;
};

/** Only HTTP has a status. */
export type RefusedRequest = { status?: number; body: Refusal };

export abstract class Connection {
  /** What was asked, as it was sent: a request is counted although nobody answered it. */
  readonly posts: ChatRequest[] = [];
  readonly refusals: RefusedRequest[] = [];
  /** How often a stream was asked for that did not run. */
  nothingToResume = 0;
  /** Changes whenever a request is made or is over, for tests that wait until the chat is idle. */
  activity = 0;

  protected readonly script: Script;
  readonly #pending = new Set<Promise<void>>();

  constructor(script: Script) {
    this.script = script;
  }

  /** Resolves when one of the requests that are on their way is over; undefined if there is none. */
  pending(): Promise<void> | undefined {
    return this.#pending.size === 0 ? undefined : Promise.race(this.#pending);
  }

  /** Is busy until this has settled, in whichever way. */
  protected hold(work: Promise<unknown>): void {
    this.activity++;
    const settled = () => {
      this.activity++;
      this.#pending.delete(over);
    };
    const over: Promise<void> = work.then(settled, settled);
    this.#pending.add(over);
  }

  /** Notes a request. */
  protected noteAsked(request: ChatRequest): void {
    this.posts.push(request);
    if (cutsHistory(request)) {
      this.script.note({ messages: request.messages });
    }
  }

  /** Notes a request, and opens its window. */
  protected noteRequest(request: ChatRequest): WindowRecord {
    this.noteAsked(request);
    return this.script.open('window');
  }
}

/** Whether a request is about an earlier state of the chat: an edit or a regeneration. */
export function cutsHistory({ trigger, messages, messageId }: ChatRequest): boolean {
  return (
    trigger === 'regenerate-message' ||
    messages.some(({ id, role }) => messageId !== undefined && id === messageId && role === 'user')
  );
}
