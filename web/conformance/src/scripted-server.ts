/** A server that answers with the windows of a stream, in their order, through `fetch`. */
import { eventStream } from './event-stream.ts';
import type { Window } from './stream.ts';

/** How often a client that asks too often is answered again, before it is cut off. */
const extraAnswers = 3;

export class ScriptedServer {
  /** The index of the window that is served next. */
  next = 0;
  /** POSTs that arrived, the superfluous ones included. */
  posts = 0;
  /** Changes whenever a request arrives, for tests that wait until the chat is idle. */
  activity = 0;

  readonly #windows: readonly Window[];
  readonly #onExtraPost: () => void;
  #extraPosts = 0;
  #lastAnswer = eventStream({ chunks: [] });

  constructor(windows: readonly Window[], onExtraPost: () => void) {
    this.#windows = windows;
    this.#onExtraPost = onExtraPost;
  }

  /** Whether the next window is for a page that was loaded again. */
  get nextIsResume(): boolean {
    return this.#windows[this.next]?.resume === true;
  }

  /** Whether a window was never asked for. */
  get hasUnservedWindow(): boolean {
    return this.next < this.#windows.length;
  }

  readonly fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    this.activity++;
    return response(init?.method === 'POST' ? this.#answerPost() : this.#answerGet());
  };

  #answerPost(): string {
    this.posts++;
    const window = this.#windows[this.next];
    if (window === undefined || window.resume) {
      return this.#answerExtraPost();
    }
    this.next++;
    this.#lastAnswer = eventStream(window);
    return this.#lastAnswer;
  }

  #answerExtraPost(): string {
    this.#extraPosts++;
    if (this.#extraPosts === 1) {
      this.#onExtraPost();
    }
    if (this.#extraPosts > extraAnswers) {
      // The one way to end a request after which the client does not send by itself.
      throw new DOMException('the client asked too often', 'AbortError');
    }
    return this.#lastAnswer;
  }

  #answerGet(): string {
    const window = this.#windows[this.next];
    if (!window?.resume) {
      throw new Error('a GET came where there is no resume window');
    }
    this.next++;
    return eventStream(window);
  }
}

function response(body: string): Response {
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-vercel-ai-ui-message-stream': 'v1',
    },
  });
}
