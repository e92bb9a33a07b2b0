/** Waits for a condition that another process brings about. */
import { setTimeout as pause } from 'node:timers/promises';

const pollMilliseconds = 5;

// A machine may be busy; shorter than the time that a test has, so that it says what it waited for.
const defaultTimeoutMs = 25_000;

/** Asks until the answer is neither undefined nor false, and gives it. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  { timeoutMs = defaultTimeoutMs }: { timeoutMs?: number } = {},
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) {
      return answer as Exclude<T, undefined | false>;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited in vain until ${what}`);
    }
    await pause(pollMilliseconds);
  }
}
