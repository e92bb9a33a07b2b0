/** Waits until a chat does nothing more by itself. */
import { setImmediate as nextTask } from 'node:timers/promises';

/** Everything here settles within microtasks, so a few silent turns of the event loop are proof. */
const silentTurns = 20;

const patience = 20_000;

export async function untilIdle(chat: {
  isBusy: () => boolean;
  activity: () => number;
}): Promise<void> {
  let seen = chat.activity();
  let silent = 0;
  for (let turn = 0; turn < patience; turn++) {
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
