/** The frames of the AI SDK's own WebSocket protocol, which version 7's transport speaks. */
import { type ErrorDetails, readErrorText } from './adk-stream-error.ts';
import { type Chunk, isChunk, isRecord } from './chunk.ts';

export type SendFrame = {
  type: 'send';
  requestId: string;
  id: string;
  trigger: 'submit-message' | 'regenerate-message';
  messageId: string | undefined;
  messages: unknown[];
  headers: Record<string, string>;
  body: object;
  metadata: unknown;
};

export type ResumeFrame = {
  type: 'resume';
  requestId: string;
  id: string;
  headers: Record<string, string>;
  body: object;
  metadata: unknown;
};

/** With `stop`, the turn is stopped, too. */
export type AbortFrame = { type: 'abort'; requestId: string; stop?: true };

/** Answered with a `pong`: pages can't send the pings that WebSockets have. */
export type PingFrame = { type: 'ping'; timestamp: number };

/** What is answered. */
export type RequestFrame = SendFrame | ResumeFrame;

export type ClientFrame = RequestFrame | AbortFrame | PingFrame;

export type ServerFrame =
  | { type: 'start' | 'end' | 'no-active'; requestId: string }
  | { type: 'chunk'; requestId: string; sequence: number; chunk: Chunk }
  | { type: 'error'; requestId: string; details: ErrorDetails };

/** The answer to a ping, when all frames before that were received. */
export type PongFrame = { type: 'pong'; timestamp: unknown };

/**
 * What a frame is to us.
 *
 * `foreign` is of a kind that we do not know and that is nobody's answer: a newer server may send
 * such. `garbage` may have been the answer to something, so that its socket can't be relied on.
 */
export type Received = ServerFrame | PongFrame | 'foreign' | 'garbage';

export function readFrame(data: unknown): Received {
  const frame = parse(data);
  if (!isRecord(frame) || typeof frame.type !== 'string') {
    return 'garbage';
  }
  const { type, requestId, sequence, chunk, timestamp } = frame;
  if (type === 'pong') {
    return { type, timestamp };
  }
  if (typeof requestId !== 'string') {
    return isKnown(type) ? 'garbage' : 'foreign';
  }
  switch (type) {
    case 'start':
    case 'end':
    case 'no-active':
      return { type, requestId };
    case 'chunk':
      return isChunk(chunk) && Number.isSafeInteger(sequence)
        ? { type, requestId, sequence: sequence as number, chunk }
        : 'garbage';
    case 'error':
      return { type, requestId, details: errorDetails(frame) };
    default:
      return 'garbage';
  }
}

/** The code is in the text, too, which is all that older servers send. */
function errorDetails({ code, errorText, retryAfterMs }: Record<string, unknown>): ErrorDetails {
  const text = typeof errorText === 'string' ? errorText : 'The chat server reported an error.';
  const read = readErrorText(text);
  return {
    code: typeof code === 'string' ? code : read.code,
    message: read.message,
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
  };
}

function isKnown(type: string): boolean {
  return ['start', 'end', 'no-active', 'chunk', 'error'].includes(type);
}

function parse(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}
