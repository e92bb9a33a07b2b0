/** What went wrong, as the server says it. */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { isRecord, parseJson } from './chunk.ts';

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
 * The error that a chat was given, as the server said it. The SDK's own transports hand over its text:
 * the body of a refusal, or `code: message`.
 */
export function toAdkStreamError(error: unknown): AdkStreamError {
  if (error instanceof AdkStreamError) {
    return error;
  }
  const text = error instanceof Error ? error.message : String(error);
  const body = parseJson(text);
  const details = isRecord(body) ? readDetails(body.error) : undefined;
  return new AdkStreamError(details ?? readErrorText(text));
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

/** A transport of the SDK's, whose failures are {@link AdkStreamError}s. */
export function withErrors<UI_MESSAGE extends UIMessage>(
  transport: ChatTransport<UI_MESSAGE>,
): ChatTransport<UI_MESSAGE> {
  const refused = (error: unknown) => {
    // What the network or the page itself did stays as it is.
    throw error instanceof TypeError || isAbort(error) ? error : toAdkStreamError(error);
  };
  return {
    // The SDK reads it off the transport: a resumed stream begins the message again.
    resumeStreamIsReplay: transport.resumeStreamIsReplay ?? false,
    sendMessages: async options => {
      const stream = await transport.sendMessages(options).catch(refused);
      return stream.pipeThrough(throwErrors());
    },
    reconnectToStream: async options => {
      const stream = await transport.reconnectToStream(options).catch(refused);
      return stream?.pipeThrough(throwErrors()) ?? null;
    },
  };
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError';
