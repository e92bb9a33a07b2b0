/** The frames of the AI SDK's own WebSocket protocol, which version 7's transport speaks, with ours. */
import { type ErrorDetails, readErrorText } from './adk-stream-error.ts';
import { isChunk, isRecord } from './chunk.ts';
import type { NumberedChunk, ResumePoint } from './stream-position.ts';

/** What the application adds to a request, computed again each time it is put on the wire. */
export type Envelope = { headers: Record<string, string>; body: object; metadata: unknown };

/** What every request says; `resumable` asks for sequences that a lost window is resumed by. */
type Request = Envelope & { requestId: string; resumable: true; id: string };

export type SendFrame = Request & {
  type: 'send';
  trigger: 'submit-message' | 'regenerate-message';
  messageId: string | undefined;
  messages: unknown[];
};

/** For the whole message, or for what follows a position in it. */
export type ResumeFrame = Request & { type: 'resume' } & (
    | ResumePoint
    | { [field in keyof ResumePoint]?: undefined }
  );

/** With `stop`, the turn of the chat is stopped, too. */
export type AbortFrame = { type: 'abort'; requestId: string; stop?: true; id?: string };

/** Answered with a `pong`: pages can't send the pings that WebSockets have. */
export type PingFrame = { type: 'ping'; timestamp: number };

/** What is answered. */
export type RequestFrame = SendFrame | ResumeFrame;

export type ClientFrame = RequestFrame | AbortFrame | PingFrame;

export type ServerFrame =
  | { type: 'start' | 'end' | 'no-active'; requestId: string }
  | ({ type: 'chunk'; requestId: string } & NumberedChunk)
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
  const { type, requestId, sequence, gap, chunk, timestamp } = frame;
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
        ? { type, requestId, sequence: sequence as number, gap: gap === true, chunk }
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
