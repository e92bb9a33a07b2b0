import { useContext, useEffect } from 'react';
import { JournalContext } from '../journal/journal.ts';
import { subscribeToEvents } from '../server/events.ts';
import { chats } from '../server/transport.ts';

/** Reads the journal on whenever something happens to the chat; before it has begun, there is none. */
export function useJournalRefresh(hasBegun: boolean): void {
  const journal = useContext(JournalContext);

  useEffect(() => {
    if (!hasBegun) {
      return;
    }
    const read = (chatId = journal.chatId) => {
      if (chatId === journal.chatId) {
        // The light is to say why it could not be read.
        journal.refresh().catch(() => chats.events.check());
      }
    };
    read();
    return subscribeToEvents(event => {
      if (event.type === 'reset') {
        read();
      } else if (event.type === 'chat' || event.type === 'chat-deleted') {
        read(event.data.id);
      } else {
        read(event.data.chatId);
      }
    });
  }, [journal, hasBegun]);
}
