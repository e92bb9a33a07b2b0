/** The README's list of chats, which follows the server. */
import type { ChatRow, DurableChats } from '@adk-stream/client';

export function chatsPage(chats: DurableChats) {
  async function follow(show: (rows: ReadonlyMap<string, ChatRow>) => void) {
    const rows = new Map<string, ChatRow>();
    const read = async () => {
      const { chats: page } = await chats.list({ archived: false });
      rows.clear();
      for (const row of page) rows.set(row.id, row);
      show(rows);
    };
    await read();
    return chats.events.subscribe(event => {
      if (event.type === 'reset') void read();
      if (event.type === 'chat') show(rows.set(event.data.id, event.data));
      if (event.type === 'chat-deleted' && rows.delete(event.data.id)) show(rows);
    });
  }

  return { follow };
}
