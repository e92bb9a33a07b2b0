/** Waits until a chat does nothing more by itself. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

/** But for what is busy, everything settles within microtasks: a few silent turns are proof. */
const silentTurns = 20;

const timeoutMs = 10_000;

export async function untilIdle(chat: {
  isBusy: () => boolean;
  activity: () => number;
}): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let seen = chat.activity();
  for (let silent = 0; silent < silentTurns; silent++) {
    await turn();
    while (chat.isBusy()) {
      if (performance.now() > deadline) {
        throw new Error('the chat never came to rest');
      }
      await pause(1);
      silent = 0;
    }
    if (chat.activity() !== seen) {
      seen = chat.activity();
      silent = 0;
    }
  }
}
