import { useCallback, useEffect, useState } from 'react';
import type { ChatAddress } from '../app/useChatAddress.ts';
import { type Message, readChat } from '../server/api.ts';
import { type Problem, problemOf } from '../server/problem.ts';
import { Chat } from './Chat.tsx';
import { ProblemCard } from './ProblemCard.tsx';

interface Props {
  chat: ChatAddress;
  onFirstMessage: () => void;
}

type Stored =
  | { state: 'loading' }
  | { state: 'failed'; problem: Problem }
  | {
      state: 'loaded';
      messages: Message[];
      /** Whether the address names a chat that the server does not know. */
      isForgotten: boolean;
      /** Counts how often it was loaded: a chat that is loaded again begins again. */
      times: number;
    };

const nothing: Stored = { state: 'loaded', messages: [], isForgotten: false, times: 0 };

/** A chat as the server knows it, then live. */
export function StoredChat({ chat: { id, isNamed }, onFirstMessage }: Props) {
  const [stored, setStored] = useState<Stored>(isNamed ? { state: 'loading' } : nothing);
  const [times, setTimes] = useState(isNamed ? 1 : 0);

  useEffect(() => {
    if (times === 0) {
      return;
    }
    const gone = new AbortController();
    readChat(id, gone.signal).then(
      chat =>
        setStored({
          state: 'loaded',
          messages: chat?.messages ?? [],
          isForgotten: chat === undefined,
          times,
        }),
      (error: unknown) => {
        if (!gone.signal.aborted) {
          setStored({ state: 'failed', problem: problemOf(error) });
        }
      },
    );
    return () => gone.abort();
  }, [id, times]);

  const loadAgain = useCallback(() => {
    setStored({ state: 'loading' });
    setTimes(count => count + 1);
  }, []);

  switch (stored.state) {
    case 'loading':
      return <main className="flex-1" aria-busy="true" />;
    case 'failed':
      return (
        <main className="flex-1">
          <div className="column">
            <ProblemCard problem={stored.problem} onRetry={loadAgain} onReload={loadAgain} />
          </div>
        </main>
      );
    case 'loaded':
      return (
        <Chat
          key={stored.times}
          id={id}
          stored={stored.messages}
          isForgotten={stored.isForgotten}
          onFirstMessage={onFirstMessage}
          onReload={loadAgain}
        />
      );
  }
}
