/** Requests that are tried again where a moment later they may succeed. */
import { ApiError } from './api-error.ts';
import { Backoff, pause } from './backoff.ts';

/** Tries for about a minute. */
export async function retry<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const backoff = new Backoff({ attempts: 12 });
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const delay = isPassing(error) && !signal.aborted ? backoff.next() : undefined;
      if (delay === undefined) {
        throw error;
      }
      await pause(delay, signal);
    }
  }
}

/** Whether an error may be gone a moment later: one of the network, or of a server that is busy. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError
    ? error.status >= 500 || error.status === 429
    : error instanceof TypeError;
}
