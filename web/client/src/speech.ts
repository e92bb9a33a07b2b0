/** What a person says aloud, as frames on the chat's socket. */

export type SpeechFrame =
  | { type: 'audio_control'; action: 'start' | 'stop'; id: string }
  | {
      type: 'audio_chunk';
      id: string;
      chunk: string;
      sampleRate: number;
      channels: 1;
      bitDepth: 16;
    };

/** How much is kept until the message that it belongs to is on its way: about ten seconds. */
const limit = 200;

/**
 * Speech that belongs to the next message of its chat: it follows that message on the same socket.
 * Sound is not repeated, so that what is said while the connection is lost is lost, too.
 */
export class Speech {
  readonly chatId: string;
  readonly #sampleRate: number;
  readonly #send: (frame: SpeechFrame) => boolean;
  #waiting: SpeechFrame[] | undefined;
  #isOver = false;

  /** @internal Made by the transport. */
  constructor(chatId: string, sampleRate: number, send: (frame: SpeechFrame) => boolean) {
    this.chatId = chatId;
    this.#sampleRate = sampleRate;
    this.#send = send;
    this.#waiting = [{ type: 'audio_control', action: 'start', id: chatId }];
  }

  /** Whether it waits for its message. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Sends some more, 20 to 100 ms at a time, and returns whether it is sent or will be. */
  write(pcm: Int16Array): boolean {
    return this.#put({
      type: 'audio_chunk',
      id: this.chatId,
      chunk: base64(pcm),
      sampleRate: this.#sampleRate,
      channels: 1,
      bitDepth: 16,
    });
  }

  /** That was all. */
  end(): void {
    this.#put({ type: 'audio_control', action: 'stop', id: this.chatId });
    this.#isOver = true;
  }

  /** @internal Its message is on its way. */
  begin(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const frame of waiting) {
      this.#send(frame);
    }
  }

  /** @internal The socket is lost; one that waits has lost nothing. */
  lost(): void {
    if (this.#waiting === undefined) {
      this.#isOver = true;
    }
  }

  #put(frame: SpeechFrame): boolean {
    if (this.#isOver) {
      return false;
    }
    if (this.#waiting === undefined) {
      return this.#send(frame);
    }
    // The end is always kept: without it, the model would listen for ever.
    if (this.#waiting.length >= limit && frame.type === 'audio_chunk') {
      return false;
    }
    this.#waiting.push(frame);
    return true;
  }
}

function base64(pcm: Int16Array): string {
  // Little-endian, as every machine with a browser is.
  const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}
