/** Waits until a chat does nothing more by itself. */
import { setImmediate as nextTask } from 'node:timers/promises';

/**
 * But for what is pending, everything settles within microtasks, so a few silent turns of the event
 * loop are proof.
 */
const silentTurns = 20;

const maxTurns = 20_000;

export async function untilIdle(chat: {
  isBusy: () => boolean;
  activity: () => number;
  /** Work outside of this process, such as a response that is on its way. */
  pending?: () => Promise<unknown> | undefined;
}): Promise<void> {
  let seen = chat.activity();
  let silent = 0;
  for (let turn = 0; turn < maxTurns; turn++) {
    await chat.pending?.();
    await nextTask();
    const now = chat.activity();
    silent = now === seen && !chat.isBusy() ? silent + 1 : 0;
    seen = now;
    if (silent === silentTurns) {
      return;
    }
  }
  throw new Error('the chat never came to rest');
}
