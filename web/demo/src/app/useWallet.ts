import { useCallback, useEffect, useState } from 'react';
import type { Journal } from '../journal/journal.ts';
import { readWallet, type Wallet } from '../server/api.ts';

/** What the wallet holds, looked at whenever the journal has something new. */
export function useWallet(journal: Journal): Wallet | undefined {
  const [wallet, setWallet] = useState<Wallet>();

  const look = useCallback(() => {
    readWallet().then(setWallet, () => undefined);
  }, []);

  useEffect(() => {
    look();
    return journal.subscribe(look);
  }, [journal, look]);

  return wallet;
}
