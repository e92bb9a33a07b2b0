import { useCallback, useEffect, useState } from 'react';
import { type Message, storedChat } from './server.ts';
import type { ChatAddress } from './useChatAddress.ts';

type Stored =
  | { state: 'loading' }
  | { state: 'failed'; message: string }
  | {
      state: 'loaded';
      messages: Message[];
      /** Whether the address names a chat that the server does not know. */
      isForgotten: boolean;
    };

const nothing: Stored = { state: 'loaded', messages: [], isForgotten: false };

/** The messages of a chat, as the server knows them when the page opens. */
export function useStoredMessages({ id, isNamed }: ChatAddress) {
  const [stored, setStored] = useState<Stored>(isNamed ? { state: 'loading' } : nothing);
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads again
  useEffect(() => {
    if (!isNamed) {
      return;
    }
    const gone = new AbortController();
    storedChat(id, gone.signal).then(
      chat =>
        setStored({
          state: 'loaded',
          messages: chat?.messages ?? [],
          isForgotten: chat === undefined,
        }),
      (error: Error) => {
        if (!gone.signal.aborted) {
          setStored({ state: 'failed', message: error.message });
        }
      },
    );
    return () => gone.abort();
  }, [id, isNamed, attempt]);

  const loadAgain = useCallback(() => {
    setStored({ state: 'loading' });
    setAttempt(count => count + 1);
  }, []);

  return { stored, loadAgain };
}
