/** What changes in a person's chats and approvals, as the server says it: one stream for a page. */
import { readJson } from './api-error.ts';
import { type ApiAccess, requestApi } from './api-request.ts';
import { Backoff } from './backoff.ts';
import { isRecord, parseJson, text } from './chunk.ts';
import { type SharedEvents, shareWhileHidden } from './hidden-tabs.ts';
import { pause } from './pause.ts';
import { type Readable, Store } from './store.ts';

/** A chat as the list of chats has it. */
export type ChatRow = {
  id: string;
  /** What it is called; null where nothing was said in words. */
  title: string | null;
  status: 'running' | 'parked' | 'finished' | 'failed' | 'stopped';
  /** How many questions and calls wait in it. */
  waiting: number;
  archived: boolean;
  /** Milliseconds since 1970, as all times. */
  createdAt: number;
  updatedAt: number;
  activeAt: number;
};

export type ServerEvent =
  /** Changes may have been missed: read again what is shown. */
  | { type: 'reset' }
  /** A chat is new, or its row changed. */
  | { type: 'chat'; data: ChatRow }
  | { type: 'chat-deleted'; data: { id: string } }
  | { type: 'approval-opened' | 'approval-closed'; data: { approvalId: string; chatId: string } };

export type ServerEventsOptions = ApiAccess & {
  /** Where the events are served, `/api/events` if nothing is said. */
  api?: string;
  /** The shortest pause before the stream is opened again, one second if nothing is said. */
  retryMs?: number;
};

/** Whether the server answers, as far as the stream knows: `looking` before its first answer. */
export type ServerState = 'looking' | 'up' | 'away';

export type ServerEvents = {
  /** Whether the server answers; looked at while somebody listens. */
  readonly state: Readable<ServerState>;
  /** Calls the listener with every event, until the returned function is called. */
  subscribe: (listener: (event: ServerEvent) => void) => () => void;
  /** Begins again: for a page whose headers name somebody else now. */
  restart: () => void;
  /** Opens the stream again at once: something failed that the network may be to blame for. */
  check: () => void;
};

/** The server sends something every 15 seconds: a stream that is silent for longer is a lost one. */
const SILENCE_MS = 40_000;

/** While a server is away, it is looked for at least this often. */
const MAX_RETRY_MS = 5_000;

/**
 * Follows while somebody listens. A page that is seen has a stream of its own; those of a person that
 * nobody sees share one. Who comes back within a minute gets what it missed, and a `reset` after that. A
 * server that refuses is not asked again before `restart`.
 */
export function serverEvents(options: ServerEventsOptions = {}): ServerEvents {
  const { api = '/api/events', retryMs = 1_000 } = options;
  const listeners = new Set<{ listener: (event: ServerEvent) => void }>();
  const state = new Store<ServerState>('looking');
  let open: AbortController | undefined;
  /** While the page is hidden. */
  let hidden: AbortController | undefined;
  let shared: SharedEvents | undefined;
  /** Ends the request, or the pause before the next one. */
  let attempt: AbortController | undefined;
  let lastId: string | undefined;
  let isRefused = false;

  const take = (block: string): void => {
    const { id, event } = readBlock(block);
    lastId = id ?? lastId;
    if (event !== undefined) {
      shared?.relay(event);
      tell(event);
    }
  };

  const tell = (event: ServerEvent): void => {
    for (const { listener } of [...listeners]) {
      listener(event);
    }
  };

  const read = async (signal: AbortSignal, onOpen: () => void): Promise<void> => {
    const last: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId };
    const response = await requestApi(options, api, { headers: last, cache: 'no-store', signal });
    isRefused = response.status >= 400 && response.status < 500 && response.status !== 429;
    // A page in its place is what a proxy or a development server answers for a server that it lacks.
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    state.set(response.status < 500 && (isStream || !response.ok) ? 'up' : 'away');
    if (!response.ok || !isStream || response.body === null) {
      void response.body?.cancel().catch(() => undefined);
      return;
    }
    onOpen();
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (let unread = ''; ; ) {
      const silence = setTimeout(() => void reader.cancel().catch(() => undefined), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done || signal.aborted) {
        return;
      }
      const blocks = (unread + decoder.decode(value, { stream: true })).split('\n\n');
      unread = blocks.pop() ?? '';
      blocks.forEach(take);
    }
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const backoff = new Backoff({
      minDelayMs: retryMs,
      maxDelayMs: Math.max(retryMs, MAX_RETRY_MS),
      attempts: Number.POSITIVE_INFINITY,
    });
    while (!signal.aborted && !isRefused) {
      const own = new AbortController();
      attempt = own;
      const both = AbortSignal.any([signal, own.signal]);
      await read(both, () => backoff.reset()).catch(() => undefined);
      // Who looks again at once will see.
      if (!isRefused && !both.aborted) {
        state.set('away');
        await pause(backoff.next() ?? retryMs, both).catch(() => undefined);
      }
    }
  };

  /** As whom the server takes this page: nobody else's events are shared with it. */
  const readPrincipal = async (signal: AbortSignal): Promise<string> => {
    const info = api.replace(/[^/]*$/, 'info');
    const body = await readJson(await requestApi(options, info, { signal }));
    return isRecord(body) ? text(body.principal) : '';
  };

  const hide = async (signal: AbortSignal): Promise<void> => {
    const principal = await readPrincipal(signal).catch(() => '');
    if (signal.aborted) {
      return;
    }
    if (principal === '') {
      close();
      return;
    }
    shared = shareWhileHidden(`adk-stream.events ${api} ${principal}`, signal, {
      onTurn: connect,
      onOther: close,
      onEvent: tell,
    });
  };

  const connect = (): void => {
    if (open === undefined && listeners.size > 0 && !isRefused) {
      open = new AbortController();
      void follow(open.signal);
    }
  };
  const close = (): void => {
    open?.abort();
    open = undefined;
  };
  const start = (): void => {
    if (!isHidden()) {
      connect();
    } else if (hidden === undefined) {
      hidden = new AbortController();
      void hide(hidden.signal);
    }
  };
  const leave = (): void => {
    hidden?.abort();
    hidden = undefined;
    shared = undefined;
  };
  const stop = (): void => {
    leave();
    close();
  };
  const onVisibility = (): void => {
    if (!isHidden()) {
      leave();
    }
    start();
  };
  const check = (): void => attempt?.abort();

  return {
    state,
    check,
    subscribe: listener => {
      // Wrapped, so that a listener that subscribes twice is called twice and leaves twice.
      const entry = { listener };
      listeners.add(entry);
      if (listeners.size === 1) {
        globalThis.document?.addEventListener('visibilitychange', onVisibility);
        globalThis.addEventListener?.('online', check);
        globalThis.addEventListener?.('offline', check);
        start();
      }
      return () => {
        if (listeners.delete(entry) && listeners.size === 0) {
          globalThis.document?.removeEventListener('visibilitychange', onVisibility);
          globalThis.removeEventListener?.('online', check);
          globalThis.removeEventListener?.('offline', check);
          stop();
          // What nobody listened to is not made up for: who comes next reads everything.
          lastId = undefined;
        }
      };
    },
    restart: () => {
      stop();
      lastId = undefined;
      isRefused = false;
      start();
    },
  };
}

function readBlock(block: string): { id: string | undefined; event: ServerEvent | undefined } {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) {
      fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
    }
  }
  return { id: fields.get('id'), event: eventOf(fields.get('event'), fields.get('data')) };
}

function eventOf(type: string | undefined, data: string | undefined): ServerEvent | undefined {
  switch (type) {
    case 'reset':
      return { type };
    case 'chat':
    case 'chat-deleted':
    case 'approval-opened':
    case 'approval-closed': {
      const body = parseJson(data);
      // The server's word for the rest of it.
      const isNamed = isRecord(body) && text(body.id ?? body.approvalId) !== '';
      return isNamed ? ({ type, data: body } as unknown as ServerEvent) : undefined;
    }
    default:
      // Of a newer server.
      return undefined;
  }
}

function isHidden(): boolean {
  return globalThis.document?.visibilityState === 'hidden';
}
