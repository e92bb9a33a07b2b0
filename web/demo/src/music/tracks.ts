/** The two tracks: a few notes of oscillators each, rendered once and repeated. */

export type Track = 1 | 2;

interface Voice {
  wave: OscillatorType;
  /** How long a note's place is. */
  beatSeconds: number;
  /** How long a note sounds on. */
  ringSeconds: number;
  swellSeconds: number;
  loudness: number;
  /** Hertz, or a rest. Several at once are a chord. */
  notes: (number | number[] | undefined)[];
}

/** How long each track is until it begins again. */
const seconds: Record<Track, number> = { 1: 9.6, 2: 16 };

const voices: Record<Track, Voice[]> = {
  // Bright: broken chords over C, A minor, F and G, like a music box.
  1: [
    {
      wave: 'triangle',
      beatSeconds: 0.3,
      ringSeconds: 0.9,
      swellSeconds: 0.01,
      loudness: 0.05,
      notes: [
        523.25, 659.25, 783.99, 1046.5, 783.99, 659.25, 783.99, 659.25, 440, 523.25, 659.25, 880,
        659.25, 523.25, 659.25, 523.25, 349.23, 440, 523.25, 698.46, 523.25, 440, 523.25, 440, 392,
        493.88, 587.33, 783.99, 587.33, 493.88, 587.33, 493.88,
      ],
    },
    {
      wave: 'sine',
      beatSeconds: 2.4,
      ringSeconds: 2.6,
      swellSeconds: 0.3,
      loudness: 0.06,
      notes: [130.81, 110, 87.31, 98],
    },
  ],
  // Calm: slow chords around D, with air, and a bell now and then.
  2: [
    {
      wave: 'sine',
      beatSeconds: 4,
      ringSeconds: 5.6,
      swellSeconds: 1.6,
      loudness: 0.035,
      notes: [
        [146.83, 220, 277.18, 369.99],
        [123.47, 185, 246.94, 293.66],
        [98, 146.83, 246.94, 293.66],
        [110, 164.81, 220, 329.63],
      ],
    },
    {
      wave: 'sine',
      beatSeconds: 1,
      ringSeconds: 2.4,
      swellSeconds: 0.01,
      loudness: 0.025,
      notes: [
        undefined,
        739.99,
        undefined,
        undefined,
        587.33,
        undefined,
        undefined,
        493.88,
        undefined,
        undefined,
        587.33,
        undefined,
        659.25,
        undefined,
        undefined,
        undefined,
      ],
    },
  ],
};

export function isTrack(value: unknown): value is Track {
  return value === 1 || value === 2;
}

/** A track as sound that can be repeated without a seam. */
export async function renderLoop(track: Track, sampleRate: number): Promise<AudioBuffer> {
  const length = seconds[track];
  const audio = new OfflineAudioContext(1, Math.round(length * sampleRate), sampleRate);
  for (const voice of voices[track]) {
    for (const [index, notes] of voice.notes.entries()) {
      for (const frequency of [notes ?? []].flat()) {
        const start = index * voice.beatSeconds;
        // A note that rings over the end sounds at the beginning too, so that it is not cut off.
        strike(audio, voice, frequency, start);
        strike(audio, voice, frequency, start - length);
      }
    }
  }
  return audio.startRendering();
}

/** One note that swells and dies away. */
function strike(
  audio: BaseAudioContext,
  { wave, ringSeconds, swellSeconds, loudness }: Voice,
  frequency: number,
  start: number,
): void {
  const end = start + ringSeconds;
  if (end <= 0) {
    return;
  }
  const from = Math.max(start, 0);
  // What is left of a note that began before the loop.
  const level = loudness * ((end - from) / ringSeconds);
  const oscillator = new OscillatorNode(audio, { type: wave, frequency });
  const volume = new GainNode(audio, { gain: 0 });
  volume.gain.setValueAtTime(start < 0 ? level : 0, from);
  volume.gain.linearRampToValueAtTime(level, from + swellSeconds);
  volume.gain.linearRampToValueAtTime(0, end);
  oscillator.connect(volume).connect(audio.destination);
  oscillator.start(from);
  oscillator.stop(end);
}
