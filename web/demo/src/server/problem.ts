/** What went wrong, as a program reads it. */
import { ApiError } from '@adk-stream/client';

export interface Problem {
  /**
   * A code of docs/errors.md, `network` where nobody answered, `gateway` where somebody answered in the
   * server's place, or nothing.
   */
  code: string;
  /** The server's own words. */
  message: string;
  /** When to try again, where that is known. */
  retryAfter?: number;
}

export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/**
 * Before a stream the server answers with JSON, `{"error":{"code","message"}}`, which `useChat` hands
 * over as it came; inside of a stream with `code: message`.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) {
    return error.problem;
  }
  if (error instanceof ApiError) {
    const isGateway = error.code === '' && error.status >= 502;
    return { code: isGateway ? 'gateway' : error.code, message: error.message };
  }
  if (!(error instanceof Error)) {
    return { code: '', message: String(error) };
  }
  // What fetch throws is worded by the browser, each in its own way.
  if (error instanceof TypeError) {
    return { code: 'network', message: '' };
  }
  return read(error.message);
}

export function read(text: string): Problem {
  const { code, message } = inJson(text) ?? inStream(text) ?? { code: '', message: text };
  const seconds = /(\d+) seconds?\b/.exec(message)?.[1];
  return {
    code,
    message,
    ...(code === 'rate_limited' && { retryAfter: seconds === undefined ? 10 : Number(seconds) }),
  };
}

function inJson(text: string): Problem | undefined {
  try {
    const { code, message } = JSON.parse(text).error;
    return typeof code === 'string' ? { code, message: String(message ?? '') } : undefined;
  } catch {
    return undefined;
  }
}

function inStream(text: string): Problem | undefined {
  const match = /^([a-z]+(?:_[a-z]+)+): (.*)$/s.exec(text);
  return match === null ? undefined : { code: match[1] ?? '', message: match[2] ?? '' };
}
