/**
 * The tabs of a person that nobody sees share one stream of events: a browser has few connections for a
 * server, and a tab that each of them keeps open is one that the next page waits for.
 */
import type { ServerEvent } from './server-events.ts';

export type HiddenTab = {
  /** This tab is the one that has the stream; until the signal fires. */
  onTurn: (signal: AbortSignal) => void;
  /** Another tab has it. */
  onOther: () => void;
  onEvent: (event: ServerEvent) => void;
};

export type SharedEvents = {
  /** Gives the others what this tab has read. */
  relay: (event: ServerEvent) => void;
};

/**
 * Joins the hidden tabs of a name, until the signal fires. Where pages have no locks, since they were not
 * served securely, each tab is one of the others, and nobody has the stream.
 */
export function shareWhileHidden(name: string, signal: AbortSignal, tab: HiddenTab): SharedEvents {
  const locks = globalThis.navigator?.locks ?? undefined;
  if (locks === undefined) {
    tab.onOther();
    return { relay: () => undefined };
  }
  // Listened to first, so that nothing is missed between two streams.
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }: MessageEvent<ServerEvent>) => tab.onEvent(data);
  signal.addEventListener('abort', () => channel.close(), { once: true });
  const take = () => {
    if (signal.aborted) {
      return undefined;
    }
    tab.onTurn(signal);
    return new Promise<void>(resolve => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  };
  void locks.request(name, { ifAvailable: true }, lock => {
    if (lock !== null) {
      return take();
    }
    if (!signal.aborted) {
      tab.onOther();
    }
    // When the tab that has it is closed, or seen again.
    locks.request(name, { signal }, take).catch(() => undefined);
    return undefined;
  });
  return { relay: event => channel.postMessage(event) };
}
