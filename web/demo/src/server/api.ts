/** What the page asks the server beside the streams, which `useChat` reads. */
import type { UIMessage, UIMessageChunk } from 'ai';
import type { Entry } from '../journal/entry.ts';
import { parseExactly } from './exactNumber.ts';
import { keyHeaders, keyWasRefused } from './key.ts';
import { RequestError, read } from './problem.ts';

/** A message, with what the server says of its turn. */
export type Message = UIMessage<{ turn?: string } | undefined>;

export interface Payment {
  transactionId: string;
  toolCallId: string;
  amount: number;
  recipient: string;
}

/** What the demo's wallet holds. */
export interface Wallet {
  balance: number;
  currency: string;
  payments: Payment[];
}

/** Who answers, and to whom. */
export interface Info {
  agent: string;
  audioInput: boolean;
  principal: string;
}

/** What one entry of the journal made a turn say. */
export interface Frame {
  seq: number;
  at: number;
  actor: string;
  messageId: string;
  chunks: UIMessageChunk[];
  opens?: { message: Message | null; after: string | null };
}

/** The version of the SDK that this page was built with decides which profile it gets. */
export const PROFILE = __AI_SDK__ === '6' ? 'shared' : 'v7';

export const readInfo = () => ask<Info>('/api/info');

/** The wallet, or nothing where the server has none: only the demo has. */
export const readWallet = () => ask<Wallet>('/api/wallet');

/** The entries of a journal after a place; none where the server does not know the chat. */
export async function readJournal(id: string, after: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let next: number | undefined = after; next !== undefined; ) {
    const url: string = `${path(id)}/journal?after=${next}`;
    const page = await ask<{ entries: Entry[]; next?: number }>(url, {}, parseExactly);
    entries.push(...(page?.entries ?? []));
    next = page?.next;
  }
  return entries;
}

export async function readRecording(id: string): Promise<Frame[]> {
  const answer = await ask<{ frames: Frame[] }>(`${path(id)}/recording?profile=${PROFILE}`);
  return answer?.frames ?? [];
}

const path = (id: string) => `/api/chat/${encodeURIComponent(id)}`;

/** `fetch` with the key, and a listener for where it is refused. */
export const fetchWithKey: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(keyHeaders())) {
    headers.set(name, value);
  }
  const response = await fetch(input, { ...init, headers });
  if (response.status === 401) {
    keyWasRefused();
  }
  return response;
};

async function ask<T>(
  url: string,
  init: RequestInit = {},
  parse: (text: string) => unknown = JSON.parse,
): Promise<T | undefined> {
  const response = await fetchWithKey(url, init);
  if (response.status === 404 || response.status === 204) {
    return undefined;
  }
  if (!response.ok) {
    throw new RequestError(read(await response.text()));
  }
  return parse(await response.text()) as T;
}
