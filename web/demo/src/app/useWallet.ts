import { useEffect, useState } from 'react';
import type { Journal } from '../journal/journal.ts';
import { readWallet, type Wallet } from '../server/api.ts';
import { subscribeToChanges } from '../server/changes.ts';

/** A payment that was approved from elsewhere is made soon, and this page reads no journal of it. */
const SOON_MS = [0, 400, 1_500];

/**
 * What the wallet holds, looked at whenever the journal has something new, or something happened to
 * another chat; and again with every key.
 */
export function useWallet(journal: Journal, keys: number): Wallet | 'none' | undefined {
  const [wallet, setWallet] = useState<Wallet | 'none'>();

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another wallet
  useEffect(() => {
    let timers: number[] = [];
    let hasNone = false;
    const look = () => {
      if (!hasNone) {
        readWallet().then(
          answer => {
            // Only the demo has one: it is not asked for again.
            hasNone = answer === undefined;
            setWallet(answer ?? 'none');
          },
          () => undefined,
        );
      }
    };
    const lookSoon = () => {
      timers.map(window.clearTimeout);
      timers = SOON_MS.map(pause => window.setTimeout(look, pause));
    };
    look();
    const leave = [journal.subscribe(look), subscribeToChanges(lookSoon)];
    return () => {
      timers.map(window.clearTimeout);
      for (const stop of leave) {
        stop();
      }
    };
  }, [journal, keys]);

  return wallet;
}
