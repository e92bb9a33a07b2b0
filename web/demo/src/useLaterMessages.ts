import { useEffect } from 'react';
import { isPending } from './output.ts';
import { type Message, storedChat } from './server.ts';
import { toolParts } from './toolParts.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

interface Options {
  id: string;
  messages: Message[];
  isIdle: boolean;
  setMessages: (messages: Message[]) => void;
}

/**
 * Looks for what the agent says unasked: the result of a call that goes on after its turn is over.
 *
 * The stream of that turn has ended, and nobody has a reason to open another one.
 */
export function useLaterMessages({ id, messages, isIdle, setMessages }: Options) {
  const last = messages.at(-1);
  const isExpecting =
    isIdle && last?.role === 'assistant' && toolParts(last).some(part => isPending(part.output));
  const known = messages.length;

  useEffect(() => {
    if (!isExpecting) {
      return;
    }
    const gone = new AbortController();
    let timer: number | undefined;
    const look = async (pause: number) => {
      const chat = await storedChat(id, gone.signal).catch(() => undefined);
      if (gone.signal.aborted) {
        return;
      }
      if (chat !== undefined && chat.status !== 'running' && chat.messages.length > known) {
        setMessages(chat.messages);
        return;
      }
      timer = window.setTimeout(look, pause, Math.min(pause * 1.5, LONGEST_PAUSE_MS));
    };
    timer = window.setTimeout(look, FIRST_PAUSE_MS, FIRST_PAUSE_MS);

    return () => {
      gone.abort();
      window.clearTimeout(timer);
    };
  }, [id, isExpecting, known, setMessages]);
}
