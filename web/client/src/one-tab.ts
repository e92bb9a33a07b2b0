/** A chat that is open in several tabs: each call of the page is run by one of them. */

/** The calls that this tab runs or has run. */
const mine = new Set<string>();

/**
 * Runs a call here, unless another tab does. If that tab goes away with the call still open, this one
 * takes over.
 */
export function inOneTab(callId: string, run: () => void, isOpen: () => boolean): void {
  const locks = globalThis.navigator?.locks ?? undefined;
  // Where the page is not served securely, browsers have no locks: then the server takes the first
  // output that comes.
  if (locks === undefined || mine.has(callId)) {
    run();
    return;
  }
  const name = `adk-stream.call.${callId}`;
  void locks.request(name, { ifAvailable: true }, lock => {
    if (lock !== null) {
      mine.add(callId);
      run();
      return keep();
    }
    void locks.request(name, () => {
      mine.add(callId);
      if (isOpen()) {
        run();
      }
      return keep();
    });
    return undefined;
  });
}

/** Until the tab is closed: a call is not run again while its output is on its way. */
const keep = () => new Promise<never>(() => undefined);
