/** The frames of the AI SDK's own WebSocket protocol, which version 7's transport speaks, with ours. */
import { type ErrorDetails, readDetails, readErrorText } from './adk-stream-error.ts';
import { isChunk, isRecord, parseJson, text } from './chunk.ts';
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

/** What is answered to requests. */
const answers = ['start', 'end', 'no-active', 'chunk', 'error'];

export function readFrame(data: unknown): Received {
  const frame = parseJson(data);
  if (!isRecord(frame) || typeof frame.type !== 'string') {
    return 'garbage';
  }
  const { type, requestId, sequence, gap, chunk, timestamp } = frame;
  if (type === 'pong') {
    return { type, timestamp };
  }
  if (typeof requestId !== 'string') {
    return answers.includes(type) ? 'garbage' : 'foreign';
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
    case 'error': {
      // The text begins with the code, for clients that read nothing else.
      const { message } = readErrorText(text(frame.errorText));
      const details = readDetails({ ...frame, message });
      return details === undefined ? 'garbage' : { type, requestId, details };
    }
    default:
      return 'garbage';
  }
}
