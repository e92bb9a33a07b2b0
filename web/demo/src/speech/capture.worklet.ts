/** Takes sound from the microphone and gives it on as the model wants it: 16 kHz, 16 bits. */

const RATE = 16_000;

/** 50 ms at a time. */
const SIZE = RATE / 20;

class Capture extends AudioWorkletProcessor {
  readonly #step = sampleRate / RATE;
  readonly #out = new Int16Array(SIZE);
  #filled = 0;
  /** Where the next sample is taken, counted from the start of the next block. */
  #next = 0;
  #sum = 0;
  #count = 0;

  override process([input]: Float32Array[][]): boolean {
    for (const sample of input?.[0] ?? []) {
      // The mean over the input samples of one output sample: it also takes out what is too high for the rate.
      this.#sum += sample;
      this.#count += 1;
      this.#next += 1;
      if (this.#next >= this.#step) {
        this.#next -= this.#step;
        this.#put(this.#sum / this.#count);
        this.#sum = 0;
        this.#count = 0;
      }
    }
    return true;
  }

  #put(sample: number): void {
    this.#out[this.#filled++] = Math.max(-1, Math.min(1, sample)) * 0x7fff;
    if (this.#filled === SIZE) {
      this.port.postMessage(this.#out.slice());
      this.#filled = 0;
    }
  }
}

registerProcessor('capture', Capture);
