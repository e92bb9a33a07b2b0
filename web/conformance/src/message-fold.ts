/** A message as it grows, folded by the real client's own reader of streams. */
import type { UIMessage, UIMessageChunk } from 'ai-7';
import type { ChatSdk } from './sdk.ts';
import type { Chunk } from './stream.ts';

type Stretch = { controller: ReadableStreamDefaultController<UIMessageChunk>; end: Promise<void> };

export type MessageFoldOptions = {
  sdk: ChatSdk;
  /** The message as far as it is known; nothing, if it begins with the stream. */
  message: UIMessage | undefined;
  onWrite: (message: UIMessage) => void;
  onError: (error: unknown) => void;
};

export class MessageFold {
  readonly #options: MessageFoldOptions;
  #message: UIMessage | undefined;
  /** The reader keeps the message to itself, so what a person does in it ends a stretch. */
  #stretch: Stretch | undefined;

  /** Texts and thoughts that have begun and not ended. */
  readonly #open = new Set<unknown>();

  constructor(options: MessageFoldOptions) {
    this.#options = options;
    this.#message = options.message;
  }

  /** Whether the message is in the middle of a text: the reader can't be left there. */
  get isSpeaking(): boolean {
    return this.#open.size > 0;
  }

  feed(chunk: Chunk): void {
    const [, what] = /^(?:text|reasoning)-(start|end)$/.exec(chunk.type) ?? [];
    if (what === 'start') {
      this.#open.add(chunk.id);
    } else if (what === 'end') {
      this.#open.delete(chunk.id);
    }
    this.#stretch ??= this.#begin();
    this.#stretch.controller.enqueue(chunk as unknown as UIMessageChunk);
  }

  /** Changes the message in place, once all that was fed is in it. */
  async change(change: (message: UIMessage) => void): Promise<void> {
    await this.close();
    if (this.#message !== undefined) {
      this.#message = structuredClone(this.#message);
      change(this.#message);
      this.#options.onWrite(this.#message);
    }
  }

  /** Resolves when all that was fed is in the message. */
  async close(): Promise<void> {
    const stretch = this.#stretch;
    this.#stretch = undefined;
    this.#open.clear();
    stretch?.controller.close();
    await stretch?.end;
  }

  #begin(): Stretch {
    const { sdk, onWrite, onError } = this.#options;
    let controller!: Stretch['controller'];
    const stream = new ReadableStream<UIMessageChunk>({
      start(own) {
        controller = own;
      },
    });
    const messages = sdk.readUIMessageStream({
      ...(this.#message !== undefined && { message: structuredClone(this.#message) }),
      stream,
      onError,
    });
    const read = async () => {
      for await (const message of messages) {
        this.#message = message;
        onWrite(message);
      }
    };
    return { controller, end: read().catch(onError) };
  }
}
