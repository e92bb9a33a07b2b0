/** Hears what a page plays: an analyser beside the speakers, whoever plays. */
import type { Page } from 'playwright-core';
import { BY_TIMER } from './visitor.ts';

export interface Ears {
  /** Waits until a tone of so many hertz is to be heard. */
  hear(hertz: number): Promise<void>;
  /** Waits until anything is to be heard. */
  hearAnything(): Promise<void>;
  /** Waits until nothing is to be heard. */
  hearNothing(): Promise<void>;
}

/** What the page is given to hear itself with. Functions, and no text: its policy forbids `eval`. */
interface Heard {
  isHeard: (hertz: number) => boolean;
  isSilent: () => boolean;
}

/** Listens from now on. */
export async function listen(page: Page): Promise<Ears> {
  await page.evaluate(() => {
    const { connect } = AudioNode.prototype;
    const analysers: AnalyserNode[] = [];
    const known = new WeakMap<BaseAudioContext, AnalyserNode>();
    // What goes to the speakers also goes to the ear.
    AudioNode.prototype.connect = function (this: AudioNode, ...given: [never]) {
      const [to] = given as unknown as [unknown];
      if (to instanceof AudioDestinationNode && this.context instanceof AudioContext) {
        let ear = known.get(this.context);
        if (ear === undefined) {
          ear = new AnalyserNode(this.context, { fftSize: 8192, smoothingTimeConstant: 0.2 });
          known.set(this.context, ear);
          analysers.push(ear);
        }
        connect.call(this, ear as never);
      }
      return connect.apply(this, given);
    } as typeof connect;
    const levels = (ear: AnalyserNode) => {
      const bins = new Float32Array(ear.frequencyBinCount);
      ear.getFloatFrequencyData(bins);
      const width = ear.context.sampleRate / ear.fftSize;
      return (hertz: number) => bins[Math.round(hertz / width)] ?? -Infinity;
    };
    Object.assign(window, {
      // A tone stands out from what is a little below and above it.
      isHeard: (hertz: number) =>
        analysers.some(ear => {
          const level = levels(ear);
          const around = Math.max(level(hertz * 0.97), level(hertz * 1.03));
          return level(hertz) > -75 && level(hertz) > around + 10;
        }),
      isSilent: () =>
        analysers.every(ear => {
          const samples = new Float32Array(ear.fftSize);
          ear.getFloatTimeDomainData(samples);
          return samples.every(sample => Math.abs(sample) < 0.001);
        }),
    });
  });
  return {
    hear: async hertz => {
      await page.waitForFunction(
        hertz => (window as unknown as Heard).isHeard(hertz),
        hertz,
        BY_TIMER,
      );
    },
    hearAnything: async () => {
      await page.waitForFunction(() => !(window as unknown as Heard).isSilent(), null, BY_TIMER);
    },
    hearNothing: async () => {
      await page.waitForFunction(() => (window as unknown as Heard).isSilent(), null, BY_TIMER);
    },
  };
}
