/** The frames of the AI SDK's own WebSocket protocol, which version 7's transport speaks. */
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

export type AbortFrame = { type: 'abort'; requestId: string };

/** What is answered. */
export type RequestFrame = SendFrame | ResumeFrame;

export type ClientFrame = RequestFrame | AbortFrame;

export type ServerFrame =
  | { type: 'start' | 'end' | 'no-active'; requestId: string }
  | { type: 'chunk'; requestId: string; sequence: number; chunk: Chunk }
  | { type: 'error'; requestId: string; errorText: string | undefined };

/**
 * What a frame is to us.
 *
 * `foreign` is of a kind that we do not know and that is nobody's answer: a newer server may send
 * such. `garbage` may have been the answer to something, so that its socket can't be relied on.
 */
export type Received = ServerFrame | 'foreign' | 'garbage';

export function readFrame(data: unknown): Received {
  const frame = parse(data);
  if (!isRecord(frame) || typeof frame.type !== 'string') {
    return 'garbage';
  }
  const { type, requestId, sequence, chunk, errorText } = frame;
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
      return {
        type,
        requestId,
        errorText: typeof errorText === 'string' ? errorText : undefined,
      };
    default:
      return 'garbage';
  }
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
