/** The agent's voice: sound that comes with the stream, played as it comes. */
import playback from './playback.worklet.ts?worker&url';

/** What `useChat` reports of data that belongs to no message. */
export interface DataPart {
  type: string;
  data?: unknown;
}

let player: Promise<Player> | undefined;
let isSpeaking = false;
/** How many want silence. */
let holds = 0;
let analyser: AnalyserNode | undefined;
const listeners = new Set<() => void>();

interface Player {
  node: AudioWorkletNode;
  context: AudioContext;
}

export function subscribeToVoice(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const isVoicePlaying = () => isSpeaking;

export const voiceAnalyser = () => analyser;

/** Takes what came with the stream: sound, or that somebody fell in. */
export function playData({ type, data }: DataPart): void {
  if (type === 'data-pcm') {
    if (holds > 0) {
      return;
    }
    const { content, sampleRate = 24_000 } = data as { content: string; sampleRate?: number };
    player ??= open(sampleRate);
    const samples = decoded(content);
    void player.then(({ node }) => node.port.postMessage(samples));
  } else if (type === 'data-interrupted') {
    stopPlayback();
  }
}

/** Stops at once; what comes from now on is played. */
export function stopPlayback(): void {
  void player?.then(({ node }) => node.port.postMessage('stop'));
}

/** Stops at once, and drops what still comes, until the returned function is called. */
export function mute(): () => void {
  holds += 1;
  stopPlayback();
  return () => {
    holds -= 1;
  };
}

async function open(sampleRate: number): Promise<Player> {
  const context = new AudioContext({ sampleRate });
  await context.audioWorklet.addModule(playback);
  const node = new AudioWorkletNode(context, 'playback', { outputChannelCount: [1] });
  analyser = new AnalyserNode(context, { fftSize: 256, smoothingTimeConstant: 0.6 });
  node.connect(analyser).connect(context.destination);
  node.port.onmessage = ({ data }: MessageEvent<'quiet' | 'playing'>) => {
    isSpeaking = data === 'playing';
    for (const listener of listeners) {
      listener();
    }
  };
  await context.resume();
  return { node, context };
}

/** Base64, 16 bits little-endian, as samples. */
function decoded(content: string): Float32Array {
  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const samples = new Float32Array(bytes.length >> 1);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = view.getInt16(index * 2, true) / 0x8000;
  }
  return samples;
}
