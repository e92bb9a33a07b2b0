/** How a page reaches the server: through `fetch`, with every byte and every request noted. */
import type { UIMessage } from 'ai-7';
import type { Api, Refusal } from './api.ts';
import type { Script, WindowRecord } from './script.ts';

/** What the client posts. */
export type ChatRequest = {
  id: string;
  messages: UIMessage[];
  trigger: 'submit-message' | 'regenerate-message';
  messageId?: string;
};

export type RefusedRequest = { status: number; body: Refusal };

export class Connection {
  /** What was posted, as it was sent: a request is counted although nobody answered it. */
  readonly posts: ChatRequest[] = [];
  readonly refusals: RefusedRequest[] = [];
  /** How often a stream was asked for that did not run. */
  nothingToResume = 0;
  /** Changes whenever a request is made or is over, for whoever waits until the chat is idle. */
  activity = 0;

  readonly #api: Api;
  readonly #script: Script;
  readonly #headers: Record<string, string>;
  readonly #pending = new Set<Promise<void>>();

  constructor(api: Api, script: Script, headers: Record<string, string>) {
    this.#api = api;
    this.#script = script;
    this.#headers = headers;
  }

  /** Resolves when one of the requests that are on their way is over; undefined if there is none. */
  pending(): Promise<void> | undefined {
    return this.#pending.size === 0 ? undefined : Promise.race(this.#pending);
  }

  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    this.activity++;
    const exchange = this.#exchange(String(url), init);
    const over: Promise<void> = exchange
      .then(
        ({ end }) => end,
        () => {},
      )
      .then(() => {
        this.activity++;
        this.#pending.delete(over);
      });
    this.#pending.add(over);
    return (await exchange).response;
  };

  async #exchange(url: string, init: RequestInit = {}) {
    const window = this.#open(init);
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...this.#headers };
    const response = await this.#api.fetch(url, { ...init, headers }).catch((error: unknown) => {
      this.#script.drop(window);
      throw error;
    });
    const { status } = response;
    if (!response.ok) {
      this.#script.drop(window);
      return { response, end: this.#noteRefusal(response.clone()) };
    }
    if (status === 204 || response.body === null) {
      this.#script.drop(window);
      this.nothingToResume++;
      return { response, end: Promise.resolve() };
    }
    const [theirs, ours] = response.body.tee();
    return {
      response: new Response(theirs, { status, headers: response.headers }),
      end: record(ours, window),
    };
  }

  async #noteRefusal(response: Response): Promise<void> {
    this.refusals.push({ status: response.status, body: (await response.json()) as Refusal });
  }

  #open(init: RequestInit): WindowRecord {
    if (init.method !== 'POST') {
      return this.#script.open('resume');
    }
    const post = JSON.parse(String(init.body)) as ChatRequest;
    this.posts.push(post);
    if (cutsHistory(post)) {
      this.#script.note({ messages: post.messages });
    }
    return this.#script.open('window');
  }
}

/** Whether a request is about an earlier state of the chat: an edit or a regeneration. */
export function cutsHistory({ trigger, messages, messageId }: ChatRequest): boolean {
  return (
    trigger === 'regenerate-message' ||
    messages.some(message => message.id === messageId && message.role === 'user')
  );
}

async function record(body: ReadableStream<Uint8Array>, window: WindowRecord): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) {
      window.text += decoder.decode(bytes, { stream: true });
    }
    window.state = 'ended';
  } catch {
    window.state = 'cut';
  }
}
