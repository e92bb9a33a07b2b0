/** Plays what it is given, in order and without gaps, until it is stopped. */

class Playback extends AudioWorkletProcessor {
  #queue: Float32Array[] = [];
  #at = 0;
  #isQuiet = true;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<Float32Array | 'stop'>) => {
      if (data === 'stop') {
        this.#queue = [];
        this.#at = 0;
      } else {
        this.#queue.push(data);
      }
    };
  }

  override process(_: Float32Array[][], [output]: Float32Array[][]): boolean {
    const channel = output?.[0];
    if (channel === undefined) {
      return true;
    }
    for (let index = 0; index < channel.length; index++) {
      const current = this.#queue[0];
      channel[index] = current?.[this.#at] ?? 0;
      this.#at += 1;
      if (current === undefined || this.#at >= current.length) {
        this.#queue.shift();
        this.#at = 0;
      }
    }
    const isQuiet = this.#queue.length === 0;
    if (isQuiet !== this.#isQuiet) {
      this.#isQuiet = isQuiet;
      this.port.postMessage(isQuiet ? 'quiet' : 'playing');
    }
    return true;
  }
}

registerProcessor('playback', Playback);
