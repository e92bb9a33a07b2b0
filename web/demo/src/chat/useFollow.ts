import type { UseChatHelpers } from '@ai-sdk/react';
import { useContext, useEffect, useRef } from 'react';
import { JournalContext } from '../journal/journal.ts';
import { type Message, readChat, type ServedChat } from '../server/api.ts';
import { subscribeToChanges } from '../server/changes.ts';
import { checkServer } from '../server/useServerHealth.ts';
import { toolParts } from '../tools/toolParts.ts';
import { replaced } from './digest.ts';

/** How often the journal is checked for changes while the page is visible. */
const PAUSE_MS = 2_000;

/**
 * Keeps a chat as the server has it while this page has no window open on it: somebody may speak or
 * answer in another tab, on another machine or by the API; a gate may time out, and a report come back.
 *
 * The journal shows whether there are changes, which costs next to nothing; only then is the chat loaded.
 * Returns a function that looks at once, whatever the journal says.
 */
export function useFollow(chat: UseChatHelpers<Message>): () => Promise<void> {
  const journal = useContext(JournalContext);
  const latest = useRef(chat);
  latest.current = chat;

  const look = useRef(async () => {
    const { id, status } = latest.current;
    if (status === 'submitted' || status === 'streaming') {
      return;
    }
    const served = await readChat(id);
    const { status: now, messages, setMessages, resumeStream } = latest.current;
    // It may have begun to stream meanwhile, and then it knows better.
    if (served === undefined || now === 'submitted' || now === 'streaming') {
      return;
    }
    if (isGoingOn(served)) {
      await resumeStream();
      return;
    }
    const next = replaced(messages, served.messages);
    if (next !== undefined) {
      setMessages(next);
    }
  });

  useEffect(() => {
    let timer: number | undefined;
    let isGone = false;
    const check = async () => {
      window.clearTimeout(timer);
      try {
        // Before the first answer there may be no chat to ask for.
        const isBegun = latest.current.messages.some(({ role }) => role === 'assistant');
        if (isBegun && (await journal.refresh()) && !isGone) {
          await look.current();
        }
      } catch {
        // It is asked again, and the light is to say so meanwhile.
        checkServer();
      }
      if (!isGone) {
        timer = window.setTimeout(check, PAUSE_MS);
      }
    };
    const onSeen = () => {
      if (document.visibilityState === 'visible') {
        void check();
      }
    };
    void check();
    document.addEventListener('visibilitychange', onSeen);
    const leave = subscribeToChanges(chatId => {
      if (chatId === journal.chatId) {
        void check();
      }
    });
    return () => {
      isGone = true;
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onSeen);
      leave();
    };
  }, [journal]);

  return look.current;
}

/** Whether there is a stream to read: it runs, or it waits for a page to run a tool. */
function isGoingOn({ status, messages }: ServedChat): boolean {
  const last = messages.at(-1);
  const isOurs =
    last !== undefined && toolParts(last).some(part => part.state === 'input-available');
  return status === 'running' || (status === 'parked' && isOurs);
}
