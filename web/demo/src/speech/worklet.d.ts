/** The part of the world of an AudioWorklet that is used: TypeScript's libraries have none of it. */
declare const sampleRate: number;

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}

declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void;

declare module '*?worker&url' {
  const url: string;
  export default url;
}
