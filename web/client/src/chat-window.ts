/**
 * One stream that a chat reads, over as many sockets as it takes.
 *
 * The chat sees one stream that begins once and ends once. Behind it, the window sends its request, and
 * again after the socket was lost: unchanged as long as nothing of the answer has come, since the server
 * does not do the same request twice, and for what follows its position once something has.
 */
import { AdkStreamError, readDetails } from './adk-stream-error.ts';
import type { Chunk } from './chunk.ts';
import type { Envelope, RequestFrame, ServerFrame } from './frame.ts';
import { type NumberedChunk, type ShownApproval, StreamPosition } from './stream-position.ts';

/** What the chat asked for. */
export type WindowRequest = { envelope: () => Promise<Envelope> } & (
  | {
      kind: 'send';
      trigger: 'submit-message' | 'regenerate-message';
      messageId: string | undefined;
      messages: unknown[];
      /** Those of the message that the chat continues with. */
      approvals: ShownApproval[];
    }
  | { kind: 'resume' }
);

/** What the window needs of its transport. */
export type WindowHost = {
  /** The window gave its chat something new. */
  onProgress(): void;
  /** It has no reader any more. */
  onCancel(): void;
  /** The window is over. */
  onOver(): void;
};

/**
 * `waiting` until it is first on the wire, `sent` until the server has shown that it received it,
 * `started` while it answers.
 */
type Phase = 'waiting' | 'sent' | 'started' | 'over';

/**
 * How often a request is sent that the server never acknowledges. One that is too large for it, or
 * that it dies of, is lost with every socket.
 */
const unacknowledgedLimit = 6;

/** The close code of a frame that is larger than the server takes: it would be so again. */
const messageTooBig = 1009;

/**
 * The answer that was being sent is not the answer any more: the server had to begin a step again.
 *
 * A chat of version 6 can't be made to forget what it shows. `resumeStream()` makes it read the answer
 * from its start.
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
  readonly request: WindowRequest;
  readonly stream: ReadableStream<Chunk>;
  /** Whether there is something to read, once that is known. */
  readonly isThere: Promise<boolean>;
  /** The same on every socket: the server does no request twice. */
  readonly requestId = uniqueId();
  /** Whether it was sent on the socket that is open. */
  isOnWire = false;

  readonly #host: WindowHost;
  readonly #position: StreamPosition;
  #phase: Phase = 'waiting';
  #isFinished = false;
  #unacknowledged = 0;
  #controller!: ReadableStreamDefaultController<Chunk>;
  #known!: { resolve: (isThere: boolean) => void; reject: (error: Error) => void };

  constructor(chatId: string, request: WindowRequest, host: WindowHost) {
    this.chatId = chatId;
    this.request = request;
    this.#host = host;
    this.#position = new StreamPosition(request.kind === 'send' ? request.approvals : []);
    this.stream = new ReadableStream<Chunk>({
      start: controller => {
        this.#controller = controller;
      },
      cancel: () => {
        host.onCancel();
        this.end();
      },
    });
    this.isThere = new Promise((resolve, reject) => {
      this.#known = { resolve, reject };
    });
    // Only who resumes waits for it.
    this.isThere.catch(() => {});
  }

  /** Whether it has something to send, or to receive. */
  get isOpen(): boolean {
    return this.#phase !== 'over';
  }

  /** Whether the chat knows of a turn, or may have begun one: a stream that is resumed has shown none yet. */
  get isStoppable(): boolean {
    const isSent = this.#phase === 'sent' && this.request.kind === 'send';
    return isSent || this.#phase === 'started';
  }

  /** What is to be sent on a new socket. */
  frame(envelope: Envelope): RequestFrame {
    if (this.#unacknowledged >= unacknowledgedLimit) {
      throw new TypeError('The network connection is lost whenever the request is sent.');
    }
    const { chatId: id, requestId, request } = this;
    const common = { requestId, resumable: true, id, ...envelope } as const;
    const { point, hasContent } = this.#position;
    // As long as only its start is there, the whole request is safer: it says what the chat has.
    if (point !== undefined && (hasContent || request.kind === 'resume')) {
      return { type: 'resume', ...common, ...point };
    }
    if (request.kind === 'resume') {
      return { type: 'resume', ...common };
    }
    const { trigger, messageId, messages } = request;
    return { type: 'send', ...common, trigger, messageId, messages };
  }

  /** It is on the wire. */
  markSent(): void {
    this.isOnWire = true;
    if (this.#phase === 'waiting') {
      this.#phase = 'sent';
    }
    this.#unacknowledged++;
  }

  /** The socket is lost. */
  lost(code: number | undefined, reason: string): void {
    this.isOnWire = false;
    if (code === messageTooBig && this.#phase === 'sent') {
      this.fail(new Error(`The server refused the request: ${reason || 'it is too large'}.`));
    } else if (this.#isFinished) {
      this.end();
    }
  }

  /** Takes a frame in; false, if the socket that it came on can't be relied on. */
  take(frame: ServerFrame): boolean {
    switch (frame.type) {
      case 'start':
        this.#acknowledged();
        return true;
      case 'chunk':
        return this.#takeChunk(frame);
      case 'end':
        this.#acknowledged();
        this.end();
        return true;
      case 'no-active':
        if (this.#position.point !== undefined) {
          this.fail(new Error('The chat is no longer there.'));
        } else {
          this.end();
        }
        return true;
      case 'error':
        this.fail(new AdkStreamError(frame.details));
        return true;
    }
  }

  /** Nobody wants it any more: who waits for it gets the reason, and its reader sees its end. */
  abort(reason: Error): void {
    this.#known.reject(reason);
    this.end();
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
    try {
      how();
    } catch {
      // The reader is gone already.
    }
    this.#host.onOver();
  }

  #acknowledged(): void {
    if (this.#phase === 'sent') {
      this.#phase = 'started';
    }
    this.#unacknowledged = 0;
    this.#known.resolve(true);
  }

  #takeChunk(numbered: NumberedChunk): boolean {
    const { chunk } = numbered;
    const place = this.#position.place(numbered);
    if (place !== 'next') {
      return place === 'repeated';
    }
    this.#acknowledged();
    const code = chunk.type === 'data-error' ? readDetails(chunk.data)?.code : undefined;
    if (code === 'handed_over') {
      // Another server continues it.
      return false;
    }
    const { messageId } = this.#position;
    const isKnown = chunk.type === 'start' && messageId !== undefined;
    if (code === 'answer_changed' || (isKnown && chunk.messageId !== messageId)) {
      this.fail(new AnswerChangedError());
      return true;
    }
    this.#position.note(numbered);
    if (!isKnown) {
      this.#isFinished ||= chunk.type === 'finish' || chunk.type === 'error';
      this.#host.onProgress();
      this.#controller.enqueue(chunk);
    }
    return true;
  }
}

/** Not `randomUUID`, which pages without TLS lack. */
function uniqueId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
