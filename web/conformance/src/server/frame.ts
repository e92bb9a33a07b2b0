/** The frames of the official WebSocket protocol, as far as the tests look into them. */
import type { UIMessage } from 'ai-7';
import type { Chunk } from '../stream.ts';
import type { Refusal } from './api.ts';
import type { ChatRequest } from './connection.ts';

export type SentFrame =
  | ({ type: 'send'; requestId: string; headers: object; body: object } & ChatRequest)
  | { type: 'resume'; requestId: string; id: string; messageId?: string; lastSequence?: number }
  | { type: 'abort'; requestId: string };

export type ReceivedFrame =
  | { type: 'start' | 'end' | 'no-active'; requestId: string }
  | { type: 'chunk'; requestId: string; sequence: number; chunk: Chunk }
  | { type: 'error'; requestId: string; errorText?: string };

/** The request in a frame, as it would be posted. */
export function requestIn(frame: SentFrame & { type: 'send' }): ChatRequest {
  const { id, messages, trigger, messageId } = frame;
  return { id, messages: messages as UIMessage[], trigger, ...(messageId && { messageId }) };
}

/** Why a request was refused: HTTP has a code and a message, a frame one text for both. */
export function refusalIn({ errorText = '' }: { errorText?: string }): Refusal {
  const [, code = 'bad_request', message = errorText] = /^(\w+): (.*)$/s.exec(errorText) ?? [];
  return { error: { code, message } };
}
