import { useEffect, useState } from 'react';
import type { Journal } from '../journal/journal.ts';
import { readWallet, type Wallet } from '../server/api.ts';
import { subscribeToEvents } from '../server/events.ts';

/**
 * What the wallet holds, looked at whenever the journal has something new, or the server says that
 * something happened to another chat; and again with every key.
 */
export function useWallet(journal: Journal, keys: number): Wallet | 'none' | undefined {
  const [wallet, setWallet] = useState<Wallet | 'none'>();

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another wallet
  useEffect(() => {
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
    look();
    // Of a payment that is made in another chat, its row in the list of chats is what changes here.
    const leave = [journal.subscribe(look), subscribeToEvents(look)];
    return () => {
      for (const stop of leave) {
        stop();
      }
    };
  }, [journal, keys]);

  return wallet;
}
