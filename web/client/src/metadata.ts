/** What the server says of an answer, in the metadata of its message. */

/** Tokens, under the SDK's names; what the agent does not count is missing. */
export type AdkStreamUsage = {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  inputTokenDetails?: { cacheReadTokens: number };
  outputTokenDetails?: { reasoningTokens: number };
};

/** How much was said aloud, in seconds and otherwise. */
export type AdkStreamAudio = {
  chunks: number;
  bytes: number;
  sampleRate: number;
  duration: number;
};

/** For `UIMessage<AdkStreamMetadata>`. An agent may add fields of its own. */
export type AdkStreamMetadata = {
  /** What became of the turn, or that it waits for somebody. */
  turn?: 'parked' | 'finished' | 'stopped';
  usage?: AdkStreamUsage;
  /** The model that answered, as its provider names it. */
  modelVersion?: string;
  /** What the agent said aloud. */
  audio?: AdkStreamAudio;
  /** Why the model stopped, in its provider's word, unless that was a plain end. */
  finishReason?: string;
};
