/**
 * One stream that a chat reads, over as many sockets as it takes.
 *
 * The chat sees one stream that begins once and ends once. Behind it, the window asks, and asks again
 * after the socket was lost: unchanged as long as nothing shows that it was received, and for
 * the rest of the answer once it was.
 */
import { AdkStreamError } from './adk-stream-error.ts';
import type { ChatApi, ServedChat } from './chat-api.ts';
import { type Chunk, isRecord, text } from './chunk.ts';
import { Delivered } from './delivered.ts';
import type { ServerFrame } from './frame.ts';
import { messageToChunks } from './message-chunks.ts';
import { Diverged, OtherMessage, Replay } from './replay.ts';
import { retry } from './retry.ts';

/** What the chat asked for. */
export type Question =
  | {
      kind: 'send';
      trigger: 'submit-message' | 'regenerate-message';
      messageId: string | undefined;
      messages: unknown[];
      /** The message that the chat continues with, and whose parts it keeps; nothing for a new one. */
      base: unknown;
    }
  | { kind: 'resume' };

/** What the window needs of its transport. */
export type WindowHost = {
  readonly chats: ChatApi;
  readonly canReset: boolean;
  /** The message that the chat was answered with last, as far as it is known. */
  lastMessageId(chatId: string): string | undefined;
  /** The window gave its chat something new. */
  onProgress(window: ChatWindow): void;
  /** The window has no more use for a request that is on the wire. */
  onAbandoned(requestId: string): void;
  /** The window is over. */
  onOver(window: ChatWindow): void;
};

/**
 * `waiting` until it is first on the wire, `asked` until the server has shown that it received it,
 * `started` while it answers.
 */
type Phase = 'waiting' | 'asked' | 'started' | 'over';

/**
 * How often a request is sent that the server never acknowledges. One that is too large for it, or
 * that it dies of, is lost with every socket.
 */
const unacknowledgedLimit = 6;

/**
 * The answer that was being sent is not the answer any more: the server had to begin a step again.
 *
 * A chat can't be made to forget what it shows. `resumeStream()` makes it read the answer from its
 * start.
 */
export class AnswerChangedError extends TypeError {
  override readonly name = 'AnswerChangedError';

  constructor() {
    // Clients look for "network" to distinguish a lost connection from a fault.
    super('The network connection was lost, and the answer was begun again: resume the stream.');
  }
}

export class ChatWindow {
  readonly chatId: string;
  readonly question: Question;
  readonly stream: ReadableStream<Chunk>;
  /** Whether there is something to read, once that is known. */
  readonly isThere: Promise<boolean>;
  /** The request that it has on the wire. */
  requestId: string | undefined;

  readonly #host: WindowHost;
  readonly #delivered: Delivered;
  readonly #settling = new AbortController();
  #phase: Phase = 'waiting';
  #sequence = -1;
  #unacknowledged = 0;
  #isSettling = false;
  #replay: Replay | undefined;
  #controller!: ReadableStreamDefaultController<Chunk>;
  #known!: { resolve: (isThere: boolean) => void; reject: (error: Error) => void };

  constructor(chatId: string, question: Question, host: WindowHost, onCancel: () => void) {
    this.chatId = chatId;
    this.question = question;
    this.#host = host;
    this.#delivered = new Delivered(question.kind === 'send' ? question.base : undefined);
    this.stream = new ReadableStream<Chunk>({
      start: controller => {
        this.#controller = controller;
      },
      cancel: onCancel,
    });
    this.isThere = new Promise((resolve, reject) => {
      this.#known = { resolve, reject };
    });
    // Only who resumes waits for it.
    this.isThere.catch(() => {});
  }

  /** Whether it has something to send, or to receive, over a socket. */
  get needsSocket(): boolean {
    return this.#phase !== 'over' && !this.#isSettling;
  }

  /** Whether the server may have received it and has not shown so. */
  get isUnanswered(): boolean {
    return this.#phase === 'asked';
  }

  get isStarted(): boolean {
    return this.#phase === 'started';
  }

  /** What is to be asked on a new socket. */
  async ask(): Promise<'send' | 'resume'> {
    if (this.#phase === 'started') {
      return 'resume';
    }
    if (this.#unacknowledged >= unacknowledgedLimit) {
      throw new TypeError('The network connection is lost whenever the request is sent.');
    }
    if (this.#phase === 'asked' && !isRepeatable(this.question) && (await this.#wasHeard())) {
      return 'resume';
    }
    return this.question.kind;
  }

  /** It is on the wire. */
  asked(requestId: string, as: 'send' | 'resume'): void {
    this.requestId = requestId;
    this.#sequence = -1;
    const isAgain = as !== this.question.kind || this.#phase === 'started';
    this.#replay = isAgain
      ? new Replay(this.#delivered, { canReset: this.#host.canReset })
      : undefined;
    if (this.#phase === 'waiting') {
      this.#phase = 'asked';
    }
    this.#unacknowledged++;
  }

  /** The socket is lost. */
  lost(): void {
    this.requestId = undefined;
    if (this.#delivered.isFinished) {
      this.end();
    }
  }

  /** Takes a frame in; false, if it can't be one of this request. */
  take(frame: ServerFrame): boolean {
    switch (frame.type) {
      case 'start':
        this.#acknowledged();
        return true;
      case 'chunk':
        return this.#takeChunk(frame.sequence, frame.chunk);
      case 'end':
        this.#acknowledged();
        this.end();
        return true;
      case 'no-active':
        if (this.question.kind === 'resume' && this.#phase === 'asked') {
          this.#known.resolve(false);
          this.end();
        } else {
          void this.#settle();
        }
        return true;
      case 'error':
        this.fail(new AdkStreamError(frame.details));
        return true;
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.#close(() => this.#controller.close());
  }

  fail(error: Error): void {
    this.#known.reject(error);
    this.#close(() => this.#controller.error(error));
  }

  #close(how: () => void): void {
    if (this.#phase === 'over') {
      return;
    }
    this.#phase = 'over';
    this.#known.resolve(false);
    this.#settling.abort();
    try {
      how();
    } catch {
      // The reader is gone already.
    }
    this.#host.onOver(this);
  }

  #acknowledged(): void {
    if (this.#phase === 'asked') {
      this.#phase = 'started';
    }
    this.#unacknowledged = 0;
    this.#known.resolve(true);
  }

  #takeChunk(sequence: number, chunk: Chunk): boolean {
    if (sequence <= this.#sequence) {
      return true;
    }
    if (sequence !== this.#sequence + 1) {
      return false;
    }
    this.#sequence = sequence;
    this.#acknowledged();
    this.#give(chunk);
    return true;
  }

  #give(chunk: Chunk): void {
    try {
      for (const fresh of this.#newChunks(chunk)) {
        this.#host.onProgress(this);
        this.#controller.enqueue(fresh);
      }
    } catch (error) {
      if (error instanceof OtherMessage) {
        // Somebody else continued with the chat: what this window was about is over.
        if (this.requestId !== undefined) {
          this.#host.onAbandoned(this.requestId);
        }
        void this.#settle();
      } else if (error instanceof Diverged) {
        this.fail(new AnswerChangedError());
      } else {
        this.fail(error as Error);
      }
    }
  }

  get messageId(): string | undefined {
    return this.#delivered.messageId;
  }

  #newChunks(chunk: Chunk): Chunk[] {
    if (this.#replay !== undefined) {
      return this.#replay.take(chunk);
    }
    this.#delivered.note(chunk);
    return [chunk];
  }

  /** The turn has ended while nobody listened: what is missing is in the chat. */
  async #settle(): Promise<void> {
    this.#isSettling = true;
    this.requestId = undefined;
    try {
      const chat = await this.#view();
      if (chat === undefined) {
        throw new Error('The chat is no longer there.');
      }
      this.#emitRemaining(chat);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #emitRemaining(chat: ServedChat): void {
    const { messageId } = this.#delivered;
    const message =
      messageId === undefined ? lastAnswer(chat) : chat.messages.find(({ id }) => id === messageId);
    const isLast = message === undefined || message === chat.messages.at(-1);
    let rest: Chunk[];
    if (message === undefined) {
      // It was taken back: what the chat has of it stays as it is.
      this.#replay = undefined;
      rest = this.#delivered.endings();
    } else {
      this.#replay = new Replay(this.#delivered, { canReset: this.#host.canReset });
      rest = messageToChunks(message, this.#delivered);
    }
    if (chat.status === 'failed' && isLast) {
      rest.push(...failure(chat));
    } else if (message !== undefined) {
      rest.push(finish(message));
    }
    for (const chunk of rest) {
      this.#give(chunk);
    }
    this.end();
  }

  /** Whether a request that must not be sent twice has been received. */
  async #wasHeard(): Promise<boolean> {
    const chat = await this.#view();
    if (chat === undefined || this.question.kind === 'resume') {
      return false;
    }
    const { trigger, messageId, messages } = this.question;
    if (trigger === 'submit-message') {
      const edited = (of: unknown[]) => of.filter(isRecord).find(({ id }) => id === messageId);
      const [ours, theirs] = [edited(messages), edited(chat.messages)];
      return JSON.stringify(ours?.parts) === JSON.stringify(theirs?.parts);
    }
    // An answer that is given again takes the place of those from there on.
    const replaced = this.#host.lastMessageId(this.chatId) ?? messageId;
    if (replaced === undefined) {
      throw new TypeError('The network connection was lost, maybe after the request was received.');
    }
    return !chat.messages.some(({ id }) => id === replaced);
  }

  /** The chat as the server has it, or nothing where it has none. */
  #view(): Promise<ServedChat | undefined> {
    const { signal } = this.#settling;
    return retry(() => this.#host.chats.view(this.chatId, signal), signal);
  }
}

/**
 * Whether the server takes the same question twice for the same one: a new message by its id,
 * answers by their gates. An edit and a new try open a turn each time.
 */
function isRepeatable(question: Question): boolean {
  if (question.kind === 'resume') {
    return true;
  }
  const { trigger, messageId, base } = question;
  return trigger === 'submit-message' && (messageId === undefined || base !== undefined);
}

function lastAnswer({ messages }: ServedChat): Record<string, unknown> | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last : undefined;
}

/** How the server streams the failure of a turn. */
function failure({ error }: ServedChat): Chunk[] {
  const { code, message } = error ?? { code: '', message: 'The turn failed.' };
  const errorText = code === '' ? message : `${code}: ${message}`;
  return [
    { type: 'data-error', data: error, transient: true },
    { type: 'error', errorText },
  ];
}

function finish({ metadata }: Record<string, unknown>): Chunk {
  const turn = isRecord(metadata) ? text(metadata.turn) : '';
  return {
    type: 'finish',
    finishReason: turn === 'stopped' ? 'other' : 'stop',
    ...(metadata === undefined ? {} : { messageMetadata: metadata }),
  };
}
