import type { ChatRow, ServerEvent } from '@adk-stream/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { subscribeToEvents } from '../server/events.ts';
import { chats as server } from '../server/transport.ts';

export interface Chats {
  chats: readonly ChatRow[];
  /** Whether the list was read. */
  isLoaded: boolean;
  /** Whether it could not be read the last time. */
  hasFailed: boolean;
  /** Reads the next page, where there is one. */
  more: (() => void) | undefined;
  /** Shows a row as it is now. */
  put: (chat: ChatRow) => void;
  /** Shows a row no more. */
  remove: (id: string) => void;
}

/** The chats that match, kept as the server has them. */
export function useChats(search: string, archived: boolean): Chats {
  const [chats, setChats] = useState<readonly ChatRow[]>([]);
  const [cursor, setCursor] = useState<string>();
  const [isLoaded, setIsLoaded] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const reads = useRef(0);

  const load = useCallback(
    async (from?: string) => {
      const read = ++reads.current;
      try {
        const page = await server.list({ search, archived, cursor: from });
        if (read === reads.current) {
          setChats(before => (from === undefined ? page.chats : merge(before, page.chats)));
          setCursor(page.nextCursor);
          setIsLoaded(true);
          setHasFailed(false);
        }
      } catch {
        if (read === reads.current) {
          setHasFailed(true);
        }
      }
    },
    [search, archived],
  );

  const remove = useCallback(
    (id: string) => setChats(before => before.filter(chat => chat.id !== id)),
    [],
  );
  const put = useCallback(
    (chat: ChatRow) => {
      const title = (chat.title ?? '').toLowerCase();
      const isShown = chat.archived === archived && title.includes(search.toLowerCase());
      return isShown ? setChats(before => merge(before, [chat])) : remove(chat.id);
    },
    [search, archived, remove],
  );

  useEffect(() => {
    void load();
    return subscribeToEvents((event: ServerEvent) => {
      if (event.type === 'reset') {
        void load();
      } else if (event.type === 'chat') {
        put(event.data);
      } else if (event.type === 'chat-deleted') {
        remove(event.data.id);
      }
    });
  }, [load, put, remove]);

  const more = cursor === undefined ? undefined : () => void load(cursor);
  return { chats, isLoaded, hasFailed, more, put, remove };
}

/** Newer rows in place of older ones, in the order of the server. */
function merge(before: readonly ChatRow[], rows: readonly ChatRow[]): ChatRow[] {
  const all = new Map([...before, ...rows].map(chat => [chat.id, chat]));
  return [...all.values()].sort(
    (a, b) => b.activeAt - a.activeAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0),
  );
}
