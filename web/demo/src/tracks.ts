/** The two tracks: a few notes of an oscillator each, rendered once and repeated. */

export type Track = 1 | 2;

interface Score {
  wave: OscillatorType;
  /** How long a note's place is. */
  beatSeconds: number;
  /** How long a note sounds on. */
  ringSeconds: number;
  loudness: number;
  /** Hertz, or a rest. */
  notes: (number | undefined)[];
}

const scores: Record<Track, Score> = {
  // Bright: a broken C major chord with its sixth.
  1: {
    wave: 'triangle',
    beatSeconds: 0.3,
    ringSeconds: 0.6,
    loudness: 0.07,
    notes: [261.63, 329.63, 392.0, 440.0, 523.25, 440.0, 392.0, 329.63],
  },
  // Calm: low A minor, with air.
  2: {
    wave: 'sine',
    beatSeconds: 0.75,
    ringSeconds: 1.4,
    loudness: 0.1,
    notes: [220.0, undefined, 261.63, 329.63, 293.66, undefined, 196.0, 246.94],
  },
};

export function isTrack(value: unknown): value is Track {
  return value === 1 || value === 2;
}

/** A track as sound that can be repeated without a seam. */
export async function renderLoop(track: Track, sampleRate: number): Promise<AudioBuffer> {
  const { wave, beatSeconds, ringSeconds, loudness, notes } = scores[track];
  const frames = Math.round(notes.length * beatSeconds * sampleRate);
  const audio = new OfflineAudioContext(1, frames, sampleRate);
  const seconds = frames / sampleRate;
  for (const [index, frequency] of notes.entries()) {
    if (frequency === undefined) {
      continue;
    }
    // A note that rings over the end is heard at the beginning too, so that it is not cut off.
    for (const start of [index * beatSeconds, index * beatSeconds - seconds]) {
      const end = start + ringSeconds;
      if (end > 0) {
        strike(audio, { wave, frequency, loudness, start, end });
      }
    }
  }
  return audio.startRendering();
}

interface Note {
  wave: OscillatorType;
  frequency: number;
  loudness: number;
  start: number;
  end: number;
}

/** One note that swells quickly and dies away slowly. */
function strike(audio: BaseAudioContext, { wave, frequency, loudness, start, end }: Note): void {
  const swell = 0.03;
  const from = Math.max(start, 0);
  // What is left of a note that began before the loop.
  const left = (end - from) / (end - start);
  const oscillator = new OscillatorNode(audio, { type: wave, frequency });
  const volume = new GainNode(audio, { gain: 0 });
  volume.gain.setValueAtTime(start < 0 ? loudness * left : 0, from);
  volume.gain.linearRampToValueAtTime(loudness * left, from + swell);
  volume.gain.linearRampToValueAtTime(0, end);
  oscillator.connect(volume).connect(audio.destination);
  oscillator.start(from);
  oscillator.stop(end);
}
