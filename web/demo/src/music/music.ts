/** The background music: one track at a time, by Web Audio. */
import { words } from '../language/language.ts';
import { renderLoop, type Track } from './tracks.ts';

export interface Music {
  track: Track;
  /** Browsers let sound out only on a page that somebody has touched: until then, it waits. */
  state: 'waiting' | 'playing' | 'stopped';
}

/** How long the browser may take to let sound out once it may. */
const TIMEOUT_MS = 5_000;
const FADE_SECONDS = 0.4;

let context: AudioContext | undefined;
let analyser: AnalyserNode | undefined;
let stopPlaying: (() => void) | undefined;
let music: Music | undefined;
let lastRequest: Promise<void> = Promise.resolve();
const listeners = new Set<() => void>();

export function subscribeToMusic(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentMusic(): Music | undefined {
  return music;
}

/** What is playing, as a text. */
export function musicAnalyser(): AnalyserNode | undefined {
  return analyser;
}

/** Plays a track from its start. Resolves once it plays, in the order of the requests. */
export function playTrack(track: Track): Promise<void> {
  const request = lastRequest.then(() => start(track));
  lastRequest = request.catch(() => undefined);
  return request;
}

export function stopMusic(): void {
  stopPlaying?.();
  stopPlaying = undefined;
  update(music && { ...music, state: 'stopped' });
}

async function start(track: Track): Promise<void> {
  if (!navigator.userActivation.hasBeenActive) {
    update({ track, state: 'waiting' });
    await touch();
  }
  context ??= new AudioContext();
  analyser ??= attached(context);
  await wake(context);
  const buffer = await renderLoop(track, context.sampleRate);
  stopPlaying?.();
  stopPlaying = repeat(context, analyser, buffer);
  update({ track, state: 'playing' });
}

function attached(audio: AudioContext): AnalyserNode {
  const node = new AnalyserNode(audio, { fftSize: 256, smoothingTimeConstant: 0.75 });
  node.connect(audio.destination);
  return node;
}

/** Resolves when somebody touches the page. */
function touch(): Promise<void> {
  return new Promise(resolve => {
    const seen = new AbortController();
    const onTouch = () => {
      if (navigator.userActivation.hasBeenActive) {
        seen.abort();
        resolve();
      }
    };
    for (const event of ['click', 'keydown']) {
      window.addEventListener(event, onTouch, { signal: seen.signal });
    }
  });
}

async function wake(audio: AudioContext): Promise<void> {
  if (audio.state !== 'running') {
    // Where sound is refused, the browser never answers.
    await Promise.race([audio.resume(), new Promise(done => setTimeout(done, TIMEOUT_MS))]);
  }
  if (audio.state !== 'running') {
    throw new Error(words().music.refused);
  }
}

/** Fades a loop in, and returns what fades it out. */
function repeat(audio: AudioContext, to: AudioNode, buffer: AudioBuffer): () => void {
  const source = new AudioBufferSourceNode(audio, { buffer, loop: true });
  const volume = new GainNode(audio, { gain: 0 });
  source.connect(volume).connect(to);
  volume.gain.setTargetAtTime(1, audio.currentTime, FADE_SECONDS / 3);
  source.start();
  return () => {
    volume.gain.setTargetAtTime(0, audio.currentTime, FADE_SECONDS / 3);
    source.stop(audio.currentTime + FADE_SECONDS);
  };
}

function update(next: Music | undefined): void {
  music = next;
  for (const listener of listeners) {
    listener();
  }
}
