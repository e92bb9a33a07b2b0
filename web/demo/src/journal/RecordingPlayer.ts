/** Plays a recording: keeps its place, and folds the chunks so far into messages, as `useChat` does. */
import { readUIMessageStream, type UIMessageChunk } from 'ai';
import type { Message } from '../server/api.ts';
import type { Moment } from './moments.ts';

export type Speed = 'own' | 'fast';

export interface PlayerState {
  messages: Message[];
  /** How many moments were shown. */
  place: number;
  /** The entry that was shown last. */
  seq: number;
  isPlaying: boolean;
  isOver: boolean;
  /** How many seconds it waits before the next moment, where that is long. */
  waits: number;
  error: string | undefined;
}

/** How much faster fast is, and how long it waits for a person at most. */
const FAST = 6;
const LONGEST_FAST_WAIT_MS = 350;

/** A wait that is worth a word. */
const LONG_WAIT_MS = 1_500;

export class RecordingPlayer {
  readonly #moments: Moment[];
  readonly #listeners = new Set<() => void>();
  #builder = new MessageBuilder();
  #speed: Speed = 'own';
  #timer: number | undefined;
  #state: PlayerState;

  constructor(moments: Moment[]) {
    this.#moments = moments;
    this.#state = this.#blank();
  }

  readonly get = (): PlayerState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get length(): number {
    return this.#moments.length;
  }

  play(): void {
    if (this.#state.isOver) {
      this.#rewind();
    }
    this.#change({ isPlaying: true });
    this.#schedule();
  }

  pause(): void {
    window.clearTimeout(this.#timer);
    this.#change({ isPlaying: false, waits: 0 });
  }

  setSpeed(speed: Speed): void {
    this.#speed = speed;
    if (this.#state.isPlaying) {
      this.#schedule();
    }
  }

  /** Shows all of the next entry. */
  step(): void {
    this.pause();
    const next = this.#moments[this.#state.place];
    if (next !== undefined) {
      void this.seek(this.#endOf(next.seq));
    }
  }

  restart(): void {
    this.pause();
    this.#rewind();
  }

  /** Goes to a place, from the start where it lies behind. */
  async seek(place: number): Promise<void> {
    if (place < this.#state.place) {
      this.#rewind();
    }
    while (this.#state.place < place) {
      this.#show();
    }
    await this.#builder.settled();
    this.#draw();
  }

  close(): void {
    window.clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #endOf(seq: number): number {
    const after = this.#moments.findIndex(moment => moment.seq > seq);
    return after === -1 ? this.#moments.length : after;
  }

  #schedule(): void {
    window.clearTimeout(this.#timer);
    const { place } = this.#state;
    const next = this.#moments[place];
    if (next === undefined) {
      this.#change({ isPlaying: false, isOver: true, waits: 0 });
      return;
    }
    const gap = next.at - (this.#moments[place - 1]?.at ?? next.at);
    const pause = this.#speed === 'own' ? gap : Math.min(gap / FAST, LONGEST_FAST_WAIT_MS);
    this.#change({ waits: pause >= LONG_WAIT_MS ? Math.round(pause / 1000) : 0 });
    this.#timer = window.setTimeout(() => {
      this.#show();
      void this.#builder.settled().then(() => {
        this.#draw();
        if (this.#state.isPlaying) {
          this.#schedule();
        }
      });
    }, pause);
  }

  #show(): void {
    const { place } = this.#state;
    const moment = this.#moments[place];
    if (moment !== undefined) {
      this.#builder.show(moment);
      this.#state = { ...this.#state, place: place + 1, seq: moment.seq };
    }
  }

  #draw(): void {
    const { place } = this.#state;
    const isOver = place >= this.#moments.length;
    this.#change({ messages: this.#builder.messages, error: this.#builder.error, isOver });
  }

  #rewind(): void {
    this.#builder = new MessageBuilder();
    this.#state = { ...this.#blank(), isPlaying: this.#state.isPlaying };
    this.#notify();
  }

  #blank(): PlayerState {
    return {
      messages: [],
      place: 0,
      seq: 0,
      isPlaying: false,
      isOver: false,
      waits: 0,
      error: undefined,
    };
  }

  #change(change: Partial<PlayerState>): void {
    this.#state = { ...this.#state, ...change };
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

/** The messages of a recording, folded by the SDK's own reader, one stream for each. */
class MessageBuilder {
  messages: Message[] = [];
  error: string | undefined;
  readonly #streams = new Map<string, ReadableStreamDefaultController<UIMessageChunk>>();

  show({ messageId, opens, chunks }: Moment): void {
    if (opens !== undefined) {
      this.#cut(opens.after);
      this.error = undefined;
      if (opens.message !== null) {
        this.messages = [...this.messages, opens.message];
      }
      this.#open(messageId);
    }
    for (const chunk of chunks) {
      if (chunk.type === 'error') {
        this.error = chunk.errorText;
      } else {
        this.#streams.get(messageId)?.enqueue(chunk);
      }
    }
  }

  /** Resolves when everything that was shown is folded. */
  async settled(): Promise<void> {
    // The reader works in microtasks; a task later, all of them are done.
    await new Promise(resolve => setTimeout(resolve));
  }

  /** An edit or a regeneration drops what came after a message. */
  #cut(after: string | null): void {
    const index = this.messages.findIndex(({ id }) => id === after);
    this.messages = this.messages.slice(0, index + 1);
  }

  #open(messageId: string): void {
    const stream = new ReadableStream<UIMessageChunk>({
      start: controller => {
        this.#streams.set(messageId, controller);
        controller.enqueue({ type: 'start', messageId });
      },
    });
    const read = async () => {
      for await (const message of readUIMessageStream<Message>({ stream })) {
        this.#put(message);
      }
    };
    read().catch((error: unknown) => {
      this.error = String(error);
    });
  }

  #put(message: Message): void {
    const index = this.messages.findIndex(({ id }) => id === message.id);
    this.messages = index === -1 ? [...this.messages, message] : this.messages.with(index, message);
  }
}
