/** What went wrong, as a program reads it. */
import { AdkStreamError, ApiError, type ErrorDetails, toAdkStreamError } from '@adk-stream/client';

export interface Problem {
  /**
   * A code of docs/errors.md, `network` where nobody answered, `gateway` where somebody answered in the
   * server's place, or nothing.
   */
  code: string;
  /** The server's own words. */
  message: string;
  /** In how many seconds to try again, where that is known. */
  retryAfter?: number;
}

export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) {
    return error.problem;
  }
  if (error instanceof ApiError && error.code === '' && error.status >= 502) {
    return { code: 'gateway', message: error.message };
  }
  if (error instanceof AdkStreamError) {
    return problemFrom(error);
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

/** What the server said, in the body of a refusal or in the text of an `error` chunk. */
export function read(text: string): Problem {
  return problemFrom(toAdkStreamError(new Error(text)));
}

function problemFrom({ code, message, retryAfterMs }: ErrorDetails): Problem {
  return {
    code,
    message,
    ...(retryAfterMs !== undefined && { retryAfter: Math.ceil(retryAfterMs / 1000) }),
  };
}
