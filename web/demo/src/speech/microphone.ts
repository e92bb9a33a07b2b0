/** The microphone, open for as long as it records. */
import capture from './capture.worklet.ts?worker&url';

export interface Microphone {
  analyser: AnalyserNode;
  close: () => void;
}

/** Opens it; gives sound of 16 kHz and 16 bits, 50 ms at a time. */
export async function openMicrophone(onSound: (pcm: Int16Array) => void): Promise<Microphone> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
  });
  const context = new AudioContext();
  await context.audioWorklet.addModule(capture);
  const source = new MediaStreamAudioSourceNode(context, { mediaStream: stream });
  const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 });
  const analyser = new AnalyserNode(context, { fftSize: 256, smoothingTimeConstant: 0.6 });
  node.port.onmessage = ({ data }: MessageEvent<Int16Array>) => onSound(data);
  source.connect(analyser);
  source.connect(node);
  return {
    analyser,
    close: () => {
      for (const track of stream.getTracks()) {
        track.stop();
      }
      void context.close();
    },
  };
}
