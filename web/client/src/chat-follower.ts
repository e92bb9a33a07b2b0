/**
 * Keeps a chat of the SDK's as the server has it: loads it, resumes its running turn, and
 * follows what happens to it elsewhere.
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { AdkStreamError } from './adk-stream-error.ts';
import { ApiError } from './api-error.ts';
import { Backoff } from './backoff.ts';
import type { QueuedMessage, StoredChat, WhileRunning } from './chat-api.ts';
import type { DurableChats } from './durable-chats.ts';
import { pause } from './pause.ts';
import { sendAutomaticallyWhen } from './send-automatically.ts';
import {
  replaced,
  replacedBy,
  sizeOf,
  stillQueued,
  waitsForPage,
  withUnsent,
} from './served-messages.ts';
import type { ServerEvent } from './server-events.ts';
import { type Readable, Store } from './store.ts';

/** The part of a chat that is used: what every `Chat` of the SDK is. */
export type FollowedChat<UI_MESSAGE extends UIMessage = UIMessage> = {
  readonly id: string;
  readonly status: 'submitted' | 'streaming' | 'ready' | 'error';
  readonly error: Error | undefined;
  messages: UI_MESSAGE[];
  resumeStream: () => Promise<void>;
  sendMessage: () => Promise<void>;
  clearError: () => void;
  stop: () => Promise<void>;
};

export type FollowState<UI_MESSAGE extends UIMessage = UIMessage> = {
  /** Whether the chat was loaded, or there is none on the server yet. */
  isLoaded: boolean;
  /** Whether the server has no such chat. */
  isMissing: boolean;
  /** Why it could not be loaded the last time; it is tried again, unless the server refused. */
  loadError: Error | undefined;
  /** Why its last turn failed, if it did. */
  failure: AdkStreamError | undefined;
  /** The messages that wait for the turn to end, or for its next step. */
  queued: QueuedMessage<UI_MESSAGE>[];
  /** What is shown until a stream that begins its message again has come as far. */
  held: UI_MESSAGE[] | undefined;
};

export type ChatFollowerOptions = {
  /** Whether the id was just made, so that there is nothing to load. */
  isNew?: boolean;
};

/** How long a stream that begins a message again may bring nothing, while somebody waits for it. */
const REPLAY_MS = 10_000;

type Reconnect<UI_MESSAGE extends UIMessage> = ChatTransport<UI_MESSAGE>['reconnectToStream'];

export class ChatFollower<UI_MESSAGE extends UIMessage = UIMessage> {
  readonly #chat: FollowedChat<UI_MESSAGE>;
  readonly #chats: DurableChats<UI_MESSAGE>;
  readonly #state: Store<FollowState<UI_MESSAGE>>;
  #gone: AbortController | undefined;
  #reading: Promise<void> | undefined;
  /** The start that looks at the moment. */
  #following: AbortSignal | undefined;
  /** Whether something may have happened since the chat was loaded. */
  #isStale = false;
  /** Counts the streams that ended: what was loaded before is older than what they brought. */
  #streams = 0;
  /** The stream that is being resumed, or is about to be: until it is given up. */
  #resuming: AbortController | undefined;
  /** Those who wait for what a stream brings. */
  readonly #waiting = new Set<() => void>();
  /** The messages as the server had them last. */
  #served: readonly UI_MESSAGE[] = [];

  constructor(
    chats: DurableChats<UI_MESSAGE>,
    chat: FollowedChat<UI_MESSAGE>,
    { isNew = false }: ChatFollowerOptions = {},
  ) {
    this.#chats = chats;
    this.#chat = chat;
    this.#state = new Store<FollowState<UI_MESSAGE>>({
      isLoaded: isNew,
      isMissing: isNew,
      loadError: undefined,
      failure: undefined,
      queued: [],
      held: undefined,
    });
  }

  get state(): Readable<FollowState<UI_MESSAGE>> {
    return this.#state;
  }

  /** Loads and follows, until the returned function is called. That closes windows and stops no turn. */
  readonly start = (): (() => void) => {
    const gone = new AbortController();
    this.#gone = gone;
    // Before it is loaded, so that nothing is missed in between.
    const leave = this.#chats.events.subscribe(event => {
      if (this.#isAbout(event)) {
        this.#isStale = true;
        void this.#follow();
      }
    });
    this.#isStale ||= !this.#state.get().isLoaded;
    void this.#follow();
    return () => {
      leave();
      gone.abort();
      this.#reading = undefined;
      void this.#chat.stop();
    };
  };

  /** A stream of the chat has ended, in whichever way: for its `onFinish`. */
  readonly settled = (): void => {
    this.#streams += 1;
    this.#served = this.#chat.messages;
    // The connection failed, not the turn: the server may have gone on alone. Or the next turn begins.
    this.#isStale ||= isLost(this.#chat) || this.queued.length > 0;
    // The chat is not done with it yet, and may send something by itself.
    setTimeout(() => void this.#follow());
  };

  /**
   * Looks at once how the server has the chat, and resolves when that is shown and what streams was read
   * to its end. Throws where the chat can't be loaded.
   */
  readonly look = (): Promise<void> => {
    this.#isStale = true;
    if (this.#reading === undefined) {
      const reading = this.#read().finally(() => {
        if (this.#reading === reading) {
          this.#reading = undefined;
        }
      });
      this.#reading = reading;
    }
    return this.#reading;
  };

  /** The messages that wait still. */
  get queued(): QueuedMessage<UI_MESSAGE>[] {
    return stillQueued(this.#state.get().queued, this.#chat.messages);
  }

  /** Sends a message that waits while a turn is open. */
  readonly enqueue = async (message: UI_MESSAGE, whileRunning: WhileRunning): Promise<void> => {
    await this.#chats.enqueue(this.#chat.id, message, whileRunning);
    this.#set({ queued: [...this.queued, { whileRunning, message }] });
    void this.look().catch(() => undefined);
  };

  /** Makes the branch of a message the one that the chat is on. */
  readonly selectBranch = async (messageId: string): Promise<void> => {
    await this.#chats.selectBranch(this.#chat.id, messageId);
    await this.look();
  };

  /** The page has put other messages into the chat: those of another branch, maybe. */
  readonly placed = (): void => {
    const last = this.#chat.messages.at(-1);
    if (last?.role === 'assistant' && this.#served.every(({ id }) => id !== last.id)) {
      // Where that can't be, the chat stays as the server has it.
      void this.selectBranch(last.id).catch(() => this.look().catch(() => undefined));
    }
  };

  /** The message that the last one of a request is sent in the place of, since the page cut that off. */
  readonly replacedBy = (messages: readonly UI_MESSAGE[]): string | undefined =>
    replacedBy(messages, this.#served);

  /** The messages to show, of those that the chat has. */
  readonly shown = (messages: UI_MESSAGE[]): UI_MESSAGE[] => {
    const { held } = this.#state.get();
    const old = held?.at(-1);
    const last = messages.at(-1);
    if (held === undefined || old === undefined) {
      return messages;
    }
    const hasAll = last !== undefined && last.id === old.id && sizeOf(last) >= sizeOf(old);
    return hasAll ? messages : held;
  };

  /**
   * Resolves when the chat has all that is shown: while a stream begins a message again, the chat lacks
   * what somebody may answer, and what a new message follows. A stream that brings nothing for too long is
   * given up: the chat then gets what is shown.
   */
  readonly whole = async (): Promise<void> => {
    while (this.#isHeld) {
      const isGivenUp = await new Promise<boolean>(resolve => {
        const settle = (isGivenUp: boolean) => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          leave();
          resolve(isGivenUp);
        };
        const wake = () => settle(false);
        const timer = setTimeout(settle, REPLAY_MS, true);
        this.#waiting.add(wake);
        const leave = this.#state.subscribe(wake);
      });
      if (isGivenUp && this.#isHeld) {
        this.#resuming?.abort(new DOMException('The stream brought nothing.', 'AbortError'));
      }
    }
  };

  /** Resumes a stream over a transport: for that of the chat. */
  readonly reconnect = async (
    transport: ChatTransport<UI_MESSAGE>,
    options: Parameters<Reconnect<UI_MESSAGE>>[0],
  ): Promise<ReadableStream<UIMessageChunk> | null> => {
    const signal = this.#resuming?.signal;
    if (signal === undefined) {
      return transport.reconnectToStream(options);
    }
    const both = options.abortSignal ? AbortSignal.any([options.abortSignal, signal]) : signal;
    const givenUp = new Promise<null>(resolve => {
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const asked = transport.reconnectToStream({ ...options, abortSignal: both });
    // Nobody reads one that comes later.
    asked.then(
      stream => {
        if (signal.aborted) {
          void stream?.cancel().catch(() => undefined);
        }
      },
      () => undefined,
    );
    const stream = await Promise.race([asked, givenUp]);
    return stream?.pipeThrough(this.#watch(), { signal }) ?? null;
  };

  /** Tells those who wait about each chunk, once the chat has taken it. */
  #watch(): TransformStream<UIMessageChunk, UIMessageChunk> {
    return new TransformStream({
      transform: (chunk, controller) => {
        controller.enqueue(chunk);
        if (this.#waiting.size > 0) {
          setTimeout(() => {
            for (const wake of [...this.#waiting]) {
              wake();
            }
          });
        }
      },
    });
  }

  /** Whether the chat lacks some of what is shown. */
  get #isHeld(): boolean {
    const { held } = this.#state.get();
    return held !== undefined && this.shown(this.#chat.messages) === held;
  }

  #set(change: Partial<FollowState<UI_MESSAGE>>): void {
    this.#state.set({ ...this.#state.get(), ...change });
  }

  #isAbout(event: ServerEvent): boolean {
    const { id, messages } = this.#chat;
    switch (event.type) {
      case 'reset':
        // Of a chat that is new here, there is nothing on the server yet.
        return !this.#state.get().isMissing || messages.length > 0;
      case 'chat':
      case 'chat-deleted':
        return event.data.id === id;
      default:
        return event.data.chatId === id;
    }
  }

  /** Looks, as long as there is something to see and no stream that shows it. */
  async #follow(): Promise<void> {
    const signal = this.#gone?.signal;
    if (signal === undefined || this.#following === signal) {
      return;
    }
    this.#following = signal;
    const backoff = new Backoff({ minDelayMs: 500, attempts: Number.POSITIVE_INFINITY });
    while (!signal.aborted && this.#isStale && !this.#isBusy) {
      try {
        await this.look();
        if (!isLost(this.#chat)) {
          continue;
        }
      } catch (error) {
        // A refusal stays one; a server that is away comes back.
        if (error instanceof ApiError && error.status < 500) {
          break;
        }
      }
      await pause(backoff.next() ?? 0, signal).catch(() => undefined);
    }
    if (this.#following === signal) {
      this.#following = undefined;
    }
  }

  async #read(): Promise<void> {
    const signal = this.#gone?.signal;
    // What streams is read to its end; what changed meanwhile is looked at then.
    while (this.#isStale && !this.#isBusy) {
      this.#isStale = false;
      const streams = this.#streams;
      const served = await this.#load(signal);
      if (signal?.aborted) {
        return;
      }
      if (this.#isBusy || streams !== this.#streams) {
        this.#isStale = true;
      } else {
        await this.#take(served);
        if (isLost(this.#chat)) {
          return;
        }
      }
    }
  }

  async #load(signal: AbortSignal | undefined): Promise<StoredChat<UI_MESSAGE> | undefined> {
    try {
      return await this.#chats.load(this.#chat.id, signal);
    } catch (error) {
      this.#isStale = true;
      if (!signal?.aborted) {
        this.#set({ loadError: error instanceof Error ? error : new Error(String(error)) });
      }
      throw error;
    }
  }

  async #take(served: StoredChat<UI_MESSAGE> | undefined): Promise<void> {
    const chat = this.#chat;
    const { isLoaded } = this.#state.get();
    this.#set({
      isLoaded: true,
      isMissing: served === undefined,
      loadError: undefined,
      failure: served?.error === undefined ? undefined : new AdkStreamError(served.error),
      queued: served?.queued ?? [],
    });
    if (served === undefined) {
      return;
    }
    this.#served = served.messages;
    const wasRefused = isRefused(chat);
    const { messages, hasUnsent } = wasRefused
      ? { messages: served.messages, hasUnsent: false }
      : withUnsent(chat.messages, served.messages);
    const unheard = unheardIn(chat, messages);
    const next = replaced(chat.messages, [...messages, ...unheard]);
    const isNews = next !== undefined || !isLoaded;
    // A stream also announces calls to the page, and asks again what an earlier step has asked.
    const isStreamed =
      served.status === 'running' ||
      (served.status === 'parked' && isNews && (!hasUnsent || waitsForPage(messages)));
    if (isStreamed && unheard.length === 0) {
      // What was refused is not given again by itself: it may be asked as something else by now.
      const ours = wasRefused ? [] : [...chat.messages];
      await this.#resume(next ?? chat.messages);
      this.#giveAgain(ours);
      return;
    }
    if (next !== undefined) {
      chat.messages = next;
    }
    if (unheard.length === 0 && isLost(chat)) {
      chat.clearError();
    }
    if (hasUnsent) {
      this.#sendComplete();
    }
  }

  /**
   * Reads on. The stream begins the last message again, which older releases of the SDK would append to
   * what they have: it is taken out of the chat, and shown until the stream has brought as much.
   */
  async #resume(messages: UI_MESSAGE[]): Promise<void> {
    const chat = this.#chat;
    const last = messages.at(-1);
    const held = last?.role === 'assistant' ? [...messages] : undefined;
    const streams = this.#streams;
    this.#set({ held });
    chat.messages = held === undefined ? [...messages] : messages.slice(0, -1);
    const resuming = new AbortController();
    this.#resuming = resuming;
    await chat.resumeStream().catch(() => undefined);
    this.#resuming = undefined;
    const wasThere = streams !== this.#streams || this.#isBusy;
    const isCut = isLost(chat) || resuming.signal.aborted;
    if (held !== undefined && (!wasThere || (isCut && this.#isHeld))) {
      chat.messages = held;
    }
    // Another turn than the one that was loaded: only the last one is streamed.
    this.#isStale ||= held !== undefined && chat.messages.at(-1)?.id !== last?.id;
    this.#set({ held: undefined });
  }

  /** Puts answers back that were given here, not sent yet, and forgotten with a message that began again. */
  #giveAgain(ours: readonly UI_MESSAGE[]): void {
    const chat = this.#chat;
    const { messages, hasUnsent } = withUnsent(ours, chat.messages);
    if (chat.status === 'ready' && hasUnsent) {
      chat.messages = messages;
      this.#sendComplete();
    }
  }

  #sendComplete(): void {
    if (sendAutomaticallyWhen({ messages: this.#chat.messages })) {
      void this.#chat.sendMessage();
    }
  }

  get #isBusy(): boolean {
    const { status } = this.#chat;
    return status === 'submitted' || status === 'streaming';
  }
}

/** Whether a chat failed because it lost its connection. */
function isLost({ status, error }: FollowedChat): boolean {
  return status === 'error' && error instanceof TypeError;
}

/** Whether the server refused what a chat has sent. */
function isRefused({ status, error }: FollowedChat): boolean {
  return status === 'error' && !(error instanceof TypeError);
}

/** What a person said and the server never got: it stays, to be sent again. */
function unheardIn<UI_MESSAGE extends UIMessage>(
  { status, messages }: FollowedChat<UI_MESSAGE>,
  served: readonly UI_MESSAGE[],
): UI_MESSAGE[] {
  const last = messages.at(-1);
  const isUnheard =
    status === 'error' && last?.role === 'user' && !served.some(({ id }) => id === last.id);
  return isUnheard ? [last] : [];
}
