/** What changes in this person's chats and approvals, as the server says it: one stream for the page. */
import { keyState, subscribeToKey } from './key.ts';
import { chats } from './transport.ts';

export const subscribeToEvents = chats.events.subscribe;

// Another key is another person.
subscribeToKey(() => {
  if (!keyState().isWanted) {
    chats.events.restart();
  }
});
