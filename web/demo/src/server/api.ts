/** What the page asks the server beside the streams, which `useChat` reads. */
import type { UIMessage, UIMessageChunk } from 'ai';
import type { Entry } from '../journal/entry.ts';
import { keyHeaders, keyWasRefused } from './key.ts';
import { RequestError, read } from './problem.ts';

/** A message, with what the server says of its turn. */
export type Message = UIMessage<{ turn?: string } | undefined>;

/** A chat as the server knows it. */
export interface ServedChat {
  status: 'running' | 'parked' | 'finished' | 'failed' | 'stopped';
  messages: Message[];
}

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
  hears: boolean;
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

/** The version of the SDK that this page was built with decides what it is told. */
export const PROFILE = __AI_SDK__ === '6' ? 'shared' : 'v7';

export const readInfo = () => ask<Info>('/api/info');

/** A chat, or nothing where the server does not know it. */
export const readChat = (id: string, signal?: AbortSignal) =>
  ask<ServedChat>(path(id), signal && { signal });

/** Stops the turn that runs, and says whether there was one: closing its stream does not stop it. */
export async function stopTurn(id: string): Promise<boolean> {
  const answer = await ask<{ stopped: boolean }>(`${path(id)}/stop`, { method: 'POST' });
  return answer?.stopped === true;
}

/** The wallet, or nothing where the server has none: only the demo has. */
export const readWallet = () => ask<Wallet>('/api/wallet');

/** The entries of a journal after a place; none where the server does not know the chat. */
export async function readJournal(id: string, after: number): Promise<Entry[]> {
  const answer = await ask<{ entries: Entry[] }>(`${path(id)}/journal?after=${after}`);
  return answer?.entries ?? [];
}

export async function readRecording(id: string): Promise<Frame[]> {
  const answer = await ask<{ frames: Frame[] }>(`${path(id)}/recording?profile=${PROFILE}`);
  return answer?.frames ?? [];
}

const path = (id: string) => `/api/chat/${encodeURIComponent(id)}`;

/** `fetch` that brings the key, and hears where it is refused. */
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

async function ask<T>(url: string, init: RequestInit = {}): Promise<T | undefined> {
  const response = await fetchWithKey(url, init);
  if (response.status === 404 || response.status === 204) {
    return undefined;
  }
  if (!response.ok) {
    throw new RequestError(read(await response.text()));
  }
  return (await response.json()) as T;
}
