import { useCallback, useEffect, useRef, useState } from 'react';
import { readWallet, type Wallet } from './server.ts';

/** The demo's wallet. `refresh` looks again. */
export function useWallet() {
  const [wallet, setWallet] = useState<Wallet>();
  const questions = useRef(0);

  const refresh = useCallback(() => {
    questions.current += 1;
    const question = questions.current;
    readWallet().then(
      answer => {
        // Answers may overtake each other; only the last question counts.
        if (question === questions.current) {
          setWallet(answer);
        }
      },
      // The server light says that the server is away, and the next turn asks again.
      () => undefined,
    );
  }, []);

  useEffect(refresh, [refresh]);

  return { wallet, refresh };
}
