/** What went wrong, as the server says it. */
import type { UIMessageChunk } from 'ai';
import { isRecord } from './chunk.ts';

export type ErrorDetails = {
  /** The server's own code, which never changes its meaning; empty where it gave none. */
  code: string;
  /** For people. */
  message: string;
  /** When to try again, in milliseconds, where the server said so. */
  retryAfterMs?: number | undefined;
};

/** A request that the server refused, or a turn that failed. */
export class AdkStreamError extends Error {
  override readonly name: string = 'AdkStreamError';
  /** The server's own code, which never changes its meaning; empty where it gave none. */
  readonly code: string;
  /** When to try again, in milliseconds, where the server said so. */
  readonly retryAfterMs: number | undefined;

  constructor({ code, message, retryAfterMs }: ErrorDetails) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What the server says of an error in `{ code, message, retryAfterMs? }`; nothing, if it is no such. */
export function readDetails(value: unknown): ErrorDetails | undefined {
  if (!isRecord(value) || typeof value.code !== 'string') {
    return undefined;
  }
  const { code, message, retryAfterMs } = value;
  return {
    code,
    message: typeof message === 'string' ? message : '',
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
  };
}

/** The text of an `error` chunk or frame, which is `code: message`. */
export function readErrorText(text: string): ErrorDetails {
  const match = /^([a-z]+(?:_[a-z]+)+): (.*)$/s.exec(text);
  return { code: match?.[1] ?? '', message: match?.[2] ?? text };
}

/**
 * Makes a stream fail with an {@link AdkStreamError} where it has an `error` chunk: the SDK would make an
 * error of its text alone. The rest of what the server knows comes before it, as `data-error`.
 */
export function throwErrors(): TransformStream<UIMessageChunk, UIMessageChunk> {
  let details: ErrorDetails | undefined;
  return new TransformStream({
    transform(chunk, controller) {
      if (chunk.type === 'data-error') {
        details = readDetails(chunk.data);
      }
      if (chunk.type === 'error') {
        controller.error(new AdkStreamError(details ?? readErrorText(chunk.errorText)));
      } else {
        controller.enqueue(chunk);
      }
    },
  });
}
