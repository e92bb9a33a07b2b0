/** What the journal says of a chat's live session. */
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';

export type Session = {
  opened: 'kept' | 'resumed' | 'seeded';
  handle?: string;
  calls: { tool: string; nonBlocking?: boolean }[];
};

/** What was noted of it, in order. */
export async function noted(tab: Tab): Promise<Session[]> {
  const events = await tab.api.journal(tab.id);
  return events.flatMap(({ event, session }) =>
    event === 'session-noted' ? [session as unknown as Session] : [],
  );
}

/** How the session of each step came to be; what is noted between steps repeats it. */
export async function opened(tab: Tab): Promise<Session['opened'][]> {
  const events = await tab.api.journal(tab.id);
  return events.flatMap(({ event, session }, index) =>
    event === 'session-noted' && events[index - 1]?.event === 'step-ended'
      ? [(session as unknown as Session).opened]
      : [],
  );
}

/** Waits until the session can be resumed: its history is in the handle. */
export function resumable(tab: Tab): Promise<Session> {
  return until('the session has a handle', async () => {
    const last = (await noted(tab)).at(-1);
    return last?.handle !== undefined && last;
  });
}
