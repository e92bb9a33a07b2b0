/** A page's socket in the legacy dialect: which frames belong to which turn, and in what order. */
import type { Chunk } from '../stream.ts';
import type { Api } from './api.ts';
import { type ChatRequest, Connection } from './connection.ts';
import { refusalIn } from './frame.ts';
import {
  type LegacyFrame,
  LegacySocket,
  type ServerFrame,
  type Wrapping,
} from './legacy-socket.ts';
import type { Script, WindowRecord } from './script.ts';

/** What came of a turn on one socket, from its `start` to its `[DONE]`. */
export type TurnStream = {
  readonly messageId: string;
  readonly socket: number;
  readonly chunks: Chunk[];
  state: 'open' | 'ended' | 'cut' | 'left';
  /** Whether the page has closed it, as it does at a question, and has not resumed it since. */
  isLeft: boolean;
  /** The calls in it. */
  readonly calls: Set<string>;
  /** Whether another stream had the same turn before. */
  readonly isRepeat: boolean;
  /** The place in the script of what comes now. */
  record?: WindowRecord | undefined;
};

export type LegacyListener = {
  onChunk: (stream: TurnStream, chunk: Chunk) => void;
  onEnd: (stream: TurnStream) => void;
  /** A frame was not taken, or a turn failed. */
  onError: (text: string) => void;
};

/** In place of a turn that has no message yet. */
const newTurn = '';

export class LegacyConnection extends Connection {
  /** The streams, one a turn and socket. */
  readonly streams: TurnStream[] = [];
  /** Where what came was not in the dialect's order. */
  readonly disorder: string[] = [];

  readonly #api: Api;
  readonly #wrapping: Wrapping;
  readonly #listener: LegacyListener;
  readonly #sockets: LegacySocket[] = [];
  /** Frames go out one after the other, also while the socket is being opened. */
  #sending: Promise<void> = Promise.resolve();
  /** The turns that were asked for and have not begun: new ones, or those of a message. */
  #awaited: string[] = [];
  /** Frames that the server has not taken in yet. */
  #untaken = 0;
  #hasStarted = false;
  /** How many messages were refused whose end has not come. */
  #refused = 0;
  /** What was sent last. */
  #last: LegacyFrame['type'] | undefined;
  #current: TurnStream | undefined;

  constructor(api: Api, script: Script, wrapping: Wrapping, listener: LegacyListener) {
    super(script);
    this.#api = api;
    this.#wrapping = wrapping;
    this.#listener = listener;
  }

  /** Sends a message; it opens a stream, unless the one that it is about is open. */
  post(request: ChatRequest, messages: unknown[], about?: string): void {
    const { id, trigger, messageId } = request;
    this.noteAsked(request);
    const frame: LegacyFrame = { type: 'message', id, messages, trigger, messageId };
    this.#send(frame, () => {
      for (const stream of this.openStreams.filter(({ isLeft }) => isLeft)) {
        stream.isLeft = false;
        if (about === undefined) {
          // What comes next the page reads as the answer to this.
          stream.state = 'left';
          stream.record = undefined;
          this.#listener.onEnd(stream);
        }
      }
      // However many answers there are, one stream lasts for the whole turn.
      const isShown =
        about !== undefined &&
        (this.#awaited.includes(about) ||
          this.openStreams.some(({ messageId }) => messageId === about));
      if (!isShown) {
        this.#awaited.push(about ?? newTurn);
      }
    });
  }

  /** Sends a frame that opens no stream. */
  send(frame: LegacyFrame): void {
    this.#send(frame, () => {});
  }

  /** The streams whose end has not come. */
  get openStreams(): TurnStream[] {
    return this.streams.filter(stream => stream.state === 'open');
  }

  /** Whether something is to come that was asked for. */
  get isWaiting(): boolean {
    return this.awaitsStart || this.openStreams.length > 0;
  }

  /** Whether a turn that was asked for has not begun. */
  get awaitsStart(): boolean {
    return this.#awaited.length > 0;
  }

  /** What the page does from here on follows what it got so far. */
  turnThePage(messageId: string): void {
    for (const stream of this.streams) {
      if (stream.messageId === messageId) {
        stream.record = undefined;
      }
    }
  }

  /** Where a chunk of a stream is in the script. */
  recordOf(stream: TurnStream): WindowRecord {
    stream.record ??= this.script.open('window');
    return stream.record;
  }

  /** Resolves when the server has taken in all that was sent. */
  async taken(): Promise<void> {
    await this.#sending;
    const socket = this.#sockets.at(-1);
    if (socket !== undefined && !socket.isClosed) {
      await socket.taken();
    }
  }

  async close(): Promise<void> {
    await this.#sending;
    await this.#sockets.at(-1)?.close();
  }

  #send(frame: LegacyFrame, expect: () => void): void {
    this.activity++;
    this.#sending = this.#sending.then(async () => {
      const socket = await this.#open();
      expect();
      this.#untaken++;
      this.#last = frame.type;
      this.#hasStarted = false;
      socket.send(frame);
      const taken = () => {
        this.#untaken--;
      };
      socket.taken().then(taken, taken);
    });
    this.hold(this.#sending);
  }

  async #open(): Promise<LegacySocket> {
    const last = this.#sockets.at(-1);
    if (last !== undefined && !last.isClosed) {
      return last;
    }
    const number = this.#sockets.length;
    const socket = await LegacySocket.open(this.#api, this.#wrapping, received =>
      this.#receive(number, received),
    );
    this.#sockets.push(socket);
    socket.closed.then(() => {
      this.activity++;
      this.#awaited = [];
      for (const stream of this.openStreams) {
        stream.state = 'cut';
        if (stream.record !== undefined) {
          stream.record.state = 'cut';
        }
      }
    });
    return socket;
  }

  #receive(socket: number, received: ServerFrame): void {
    this.activity++;
    if ('pong' in received) {
      return;
    }
    if ('done' in received) {
      if (this.#refused > 0) {
        // A message that is refused is over, too.
        this.#refused--;
        return;
      }
      this.#end();
      return;
    }
    const { chunk } = received;
    if (chunk.type === 'start') {
      this.#start(socket, chunk);
    }
    if (chunk.type === 'error' && this.#untaken > 0 && !this.#hasStarted) {
      // No turn says so: what was sent was not taken.
      const errorText = String(chunk.errorText);
      this.#awaited.pop();
      this.#refused += Number(this.#last === 'message');
      this.refusals.push({ body: refusalIn({ errorText }) });
      this.#listener.onError(errorText);
      return;
    }
    const stream = this.#streamOf(chunk);
    if (stream === undefined) {
      this.disorder.push(`outside of a turn: ${JSON.stringify(chunk)}`);
      return;
    }
    this.#current = stream;
    stream.chunks.push(chunk);
    if (typeof chunk.toolCallId === 'string') {
      stream.calls.add(chunk.toolCallId);
    }
    if (chunk.type === 'error') {
      this.#listener.onError(String(chunk.errorText));
    }
    // Only a question has a step around it.
    stream.isLeft ||= chunk.type === 'finish-step';
    this.#listener.onChunk(stream, chunk);
  }

  #start(socket: number, chunk: Chunk): void {
    const messageId = String(chunk.messageId);
    for (const { messageId: other } of this.openStreams) {
      this.disorder.push(`${messageId} begins while ${other} is not over`);
    }
    this.#hasStarted = true;
    const place = this.#awaited.indexOf(messageId);
    this.#awaited.splice(place < 0 ? this.#awaited.indexOf(newTurn) : place, 1);
    this.#current = {
      messageId,
      socket,
      chunks: [],
      state: 'open',
      isLeft: false,
      calls: new Set(),
      isRepeat: this.streams.some(stream => stream.messageId === messageId),
    };
    this.streams.push(this.#current);
  }

  #end(): void {
    const stream = this.#current;
    if (stream?.state !== 'open') {
      this.disorder.push('the end of no turn');
      return;
    }
    stream.state = 'ended';
    if (stream.record !== undefined) {
      stream.record.text += 'data: [DONE]\n\n';
      stream.record.state = 'ended';
    }
    this.#current = this.openStreams.at(-1);
    this.#listener.onEnd(stream);
  }

  /** A frame names no turn; but the ids of calls and of texts do. */
  #streamOf({ toolCallId, id }: Chunk): TurnStream | undefined {
    const open = this.openStreams;
    const byCall = open.findLast(({ calls }) => calls.has(String(toolCallId)));
    const byText = open.findLast(({ messageId }) => String(id).startsWith(messageId));
    return byCall ?? byText ?? (this.#current?.state === 'open' ? this.#current : open.at(-1));
  }
}
