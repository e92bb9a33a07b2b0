/** Notifies all of the page and its other tabs that something happened to a chat. */

type Listener = (chatId: string) => void;

const listeners = new Set<Listener>();
const channel = new BroadcastChannel('adk-stream');

channel.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (typeof data === 'string') {
    notify(data);
  }
};

/** Something happened here. */
export function broadcastChange(chatId: string): void {
  channel.postMessage(chatId);
  notify(chatId);
}

export function subscribeToChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(chatId: string): void {
  for (const listener of listeners) {
    listener(chatId);
  }
}
