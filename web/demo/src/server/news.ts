/** That something happened to a chat, told to all of the page and to its other tabs. */

type Listener = (chatId: string) => void;

const listeners = new Set<Listener>();
const channel = new BroadcastChannel('adk-stream');

channel.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (typeof data === 'string') {
    tell(data);
  }
};

/** Something happened here. */
export function spread(chatId: string): void {
  channel.postMessage(chatId);
  tell(chatId);
}

export function subscribeToNews(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(chatId: string): void {
  for (const listener of listeners) {
    listener(chatId);
  }
}
