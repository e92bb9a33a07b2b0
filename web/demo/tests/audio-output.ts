/** Listens to what a page plays: an analyser beside the speakers. */
import type { Page } from 'playwright-core';
import { BY_TIMER } from './visitor.ts';

export interface AudioOutput {
  /** Waits until a tone of this many hertz is audible. */
  untilTone(hertz: number): Promise<void>;
  /** Waits until anything is audible. */
  untilAudible(): Promise<void>;
  /** Waits until nothing is audible. */
  untilSilent(): Promise<void>;
}

/** The analyser for the page. Functions, and no text: its policy forbids `eval`. */
interface AudioProbe {
  hasTone: (hertz: number) => boolean;
  isSilent: () => boolean;
}

/** Listens from now on. */
export async function listen(page: Page): Promise<AudioOutput> {
  await page.evaluate(() => {
    const { connect } = AudioNode.prototype;
    const analysers: AnalyserNode[] = [];
    const known = new WeakMap<BaseAudioContext, AnalyserNode>();
    // What goes to the speakers also goes to the analyser.
    AudioNode.prototype.connect = function (this: AudioNode, ...given: [never]) {
      const [to] = given as unknown as [unknown];
      if (to instanceof AudioDestinationNode && this.context instanceof AudioContext) {
        let analyser = known.get(this.context);
        if (analyser === undefined) {
          analyser = new AnalyserNode(this.context, { fftSize: 8192, smoothingTimeConstant: 0.2 });
          known.set(this.context, analyser);
          analysers.push(analyser);
        }
        connect.call(this, analyser as never);
      }
      return connect.apply(this, given);
    } as typeof connect;
    const levels = (analyser: AnalyserNode) => {
      const bins = new Float32Array(analyser.frequencyBinCount);
      analyser.getFloatFrequencyData(bins);
      const width = analyser.context.sampleRate / analyser.fftSize;
      return (hertz: number) => bins[Math.round(hertz / width)] ?? -Infinity;
    };
    Object.assign(window, {
      // A tone is louder than what is a little below and above it.
      hasTone: (hertz: number) =>
        analysers.some(analyser => {
          const level = levels(analyser);
          const around = Math.max(level(hertz * 0.97), level(hertz * 1.03));
          return level(hertz) > -75 && level(hertz) > around + 10;
        }),
      isSilent: () =>
        analysers.every(analyser => {
          const samples = new Float32Array(analyser.fftSize);
          analyser.getFloatTimeDomainData(samples);
          return samples.every(sample => Math.abs(sample) < 0.001);
        }),
    });
  });
  return {
    untilTone: async hertz => {
      await page.waitForFunction(
        hertz => (window as unknown as AudioProbe).hasTone(hertz),
        hertz,
        BY_TIMER,
      );
    },
    untilAudible: async () => {
      await page.waitForFunction(
        () => !(window as unknown as AudioProbe).isSilent(),
        null,
        BY_TIMER,
      );
    },
    untilSilent: async () => {
      await page.waitForFunction(
        () => (window as unknown as AudioProbe).isSilent(),
        null,
        BY_TIMER,
      );
    },
  };
}
