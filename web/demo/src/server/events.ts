/** What changes in this person's chats and approvals, as the server says it: one stream for the page. */
import { fetchWithKey } from './api.ts';
import type { ListedChat } from './chatList.ts';
import { keyState, subscribeToKey } from './key.ts';

export type ServerEvent =
  /** Changes may have been missed: read the lists. */
  | { type: 'reset' }
  | { type: 'chat'; data: ListedChat }
  | { type: 'chat-deleted'; data: { id: string } }
  | { type: 'approval-opened' | 'approval-closed'; data: { approvalId: string; chatId: string } };

type Listener = (event: ServerEvent) => void;

/** How long to wait before the stream is opened again. */
const RETRY_MS = 2_000;

const listeners = new Set<Listener>();
let open: AbortController | undefined;
let lastId: string | undefined;

/** Follows while somebody listens and the page is seen: a browser has few connections for a server. */
export function subscribeToEvents(listener: Listener): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    document.addEventListener('visibilitychange', onVisibility);
    leaveKey = subscribeToKey(restart);
    start();
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      document.removeEventListener('visibilitychange', onVisibility);
      leaveKey();
      stop();
    }
  };
}

let leaveKey = () => {};

const onVisibility = () => (document.hidden ? stop() : start());

function start(): void {
  // Without a key that the server takes there is nothing to follow.
  if (open === undefined && !document.hidden && !keyState().isWanted) {
    open = new AbortController();
    void follow(open.signal);
  }
}

function stop(): void {
  open?.abort();
  open = undefined;
}

/** Another key is another person. */
function restart(): void {
  stop();
  lastId = undefined;
  if (listeners.size > 0) {
    start();
  }
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await read(signal).catch(() => undefined);
    await new Promise(resolve => window.setTimeout(resolve, signal.aborted ? 0 : RETRY_MS));
  }
}

async function read(signal: AbortSignal): Promise<void> {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
  const response = await fetchWithKey('/api/events', { headers, signal, cache: 'no-store' });
  if (!response.ok || response.body === null) {
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) {
      return;
    }
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    blocks.forEach(take);
  }
}

function take(block: string): void {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) {
      fields.set(line.slice(0, colon), line.slice(colon + 2));
    }
  }
  lastId = fields.get('id') ?? lastId;
  const type = fields.get('event');
  if (type !== undefined) {
    const event = { type, data: JSON.parse(fields.get('data') ?? '{}') } as ServerEvent;
    for (const listener of [...listeners]) {
      listener(event);
    }
  }
}
