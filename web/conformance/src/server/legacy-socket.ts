/** A WebSocket in the legacy dialect, by hand: JSON out, texts that look like events in. */
import type { WebSocket } from 'ws';
import { done } from '../event-stream.ts';
import type { Chunk, Json } from '../stream.ts';
import type { Api } from './api.ts';

/** What a page of the legacy dialect sends. */
export type LegacyFrame =
  | {
      type: 'message';
      messages: unknown[];
      id?: string;
      trigger?: string;
      messageId?: string | undefined;
    }
  | { type: 'tool_result'; toolCallId: string; result: Json }
  | { type: 'ping'; timestamp: Json }
  | { type: 'interrupt'; reason?: string }
  | { type: 'audio_control'; action: 'start' | 'stop' }
  | { type: 'audio_chunk'; chunk: string };

/** Some of its pages wrap the fields in `data`, some do not. */
export type Wrapping = 'flat' | 'wrapped';

/** A frame of the server. */
export type ServerFrame = { chunk: Chunk } | { done: true } | { pong: Json };

export class LegacySocket {
  /** All frames, in order, pongs left out. */
  readonly received: ServerFrame[] = [];
  /** The code that it was closed with. */
  readonly closed: Promise<number>;

  readonly #socket: WebSocket;
  readonly #wrapping: Wrapping;
  readonly #onFrame: (received: ServerFrame) => void;
  /** Waiters for frames. */
  #wake: (() => void)[] = [];
  #isClosed = false;
  #pings = 0;
  #lastPong = 0;

  constructor(
    socket: WebSocket,
    wrapping: Wrapping,
    onFrame: (received: ServerFrame) => void = () => {},
  ) {
    this.#socket = socket;
    this.#wrapping = wrapping;
    this.#onFrame = onFrame;
    socket.on('message', data => this.#receive(String(data)));
    this.closed = new Promise(resolve => {
      socket.once('close', code => {
        this.#isClosed = true;
        this.#ring();
        resolve(code);
      });
    });
  }

  static async open(
    api: Api,
    wrapping: Wrapping,
    onFrame?: (received: ServerFrame) => void,
  ): Promise<LegacySocket> {
    return new LegacySocket(await api.socket('/live'), wrapping, onFrame);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get chunks(): Chunk[] {
    return this.received.flatMap(received => ('chunk' in received ? [received.chunk] : []));
  }

  /** How often the end of a turn came. */
  get ends(): number {
    return this.received.filter(received => 'done' in received).length;
  }

  send(frame: LegacyFrame): void {
    const { type, ...fields } = frame;
    this.sendText(
      JSON.stringify(this.#wrapping === 'flat' ? frame : { type, version: '1.0', data: fields }),
    );
  }

  /** Sends a text verbatim. */
  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** Sends sound as it is. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  /** Resolves when the server has taken in all that was sent so far: it reads frame by frame. */
  async taken(): Promise<void> {
    const ping = ++this.#pings;
    this.send({ type: 'ping', timestamp: ping });
    await this.until('a pong', () => this.#lastPong >= ping || this.#isClosed);
  }

  /** Resolves when the frames so far are enough. */
  async until(what: string, isEnough: () => boolean): Promise<void> {
    const deadline = AbortSignal.timeout(10_000);
    while (!isEnough()) {
      await new Promise<void>((resolve, reject) => {
        const giveUp = () => reject(new Error(`waited in vain for ${what}: ${this.story}`));
        deadline.addEventListener('abort', giveUp, { once: true });
        this.#wake.push(() => {
          deadline.removeEventListener('abort', giveUp);
          resolve();
        });
      });
    }
  }

  close(): Promise<number> {
    this.#socket.close();
    return this.closed;
  }

  /** All frames, for a person who looks for the reason of a failure. */
  get story(): string {
    return this.received.map(received => JSON.stringify(received)).join('\n');
  }

  #receive(text: string): void {
    const received = read(text);
    if ('pong' in received) {
      this.#lastPong = Number(received.pong);
    } else {
      this.received.push(received);
    }
    this.#onFrame(received);
    this.#ring();
  }

  #ring(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const ring of wake) {
      ring();
    }
  }
}

/** A frame is one event, written exactly as the legacy server wrote it, or the plain JSON of a pong. */
function read(text: string): ServerFrame {
  const data = /^data: ([^\n]+)\n\n$/.exec(text)?.[1];
  if (data === done) {
    return { done: true };
  }
  if (data !== undefined) {
    return { chunk: JSON.parse(data) as Chunk };
  }
  const { type, timestamp, ...rest } = JSON.parse(text) as { [field: string]: Json };
  if (type !== 'pong' || timestamp === undefined || Object.keys(rest).length > 0) {
    throw new Error(`no frame of this dialect: ${text}`);
  }
  return { pong: timestamp };
}
