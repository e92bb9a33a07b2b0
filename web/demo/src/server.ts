/** What the page asks the server beside the chat itself, which `useChat` does. */
import type { UIMessage } from '@ai-sdk/react';
import { problemWords } from './problemWords.ts';

/** A message, with what the server says of its turn. */
export type Message = UIMessage<{ turn?: string } | undefined>;

/** A chat as the server knows it. */
export interface StoredChat {
  status: 'running' | 'parked' | 'finished' | 'failed' | 'stopped';
  messages: Message[];
}

/** What the demo's wallet holds. */
export interface Wallet {
  balance: number;
  currency: string;
}

/** A chat, or nothing where the server does not know it. */
export async function storedChat(
  id: string,
  signal?: AbortSignal,
): Promise<StoredChat | undefined> {
  return ask<StoredChat>(path(id), signal && { signal });
}

/** Stops the turn that runs, and says whether there was one: closing its stream does not stop it. */
export async function stopTurn(id: string): Promise<boolean> {
  const answer = await ask<{ stopped: boolean }>(`${path(id)}/stop`, { method: 'POST' });
  return answer?.stopped === true;
}

/** The wallet, or nothing where the server has none: only the demo has. */
export async function readWallet(): Promise<Wallet | undefined> {
  return ask<Wallet>('/api/wallet');
}

/** What the open approvals ask, by the id of the approval. */
export async function readQuestions(): Promise<Map<string, string>> {
  const body = await ask<{ approvals: { approvalId: string; question: string }[] }>(
    '/api/approvals',
  );
  return new Map(body?.approvals.map(({ approvalId, question }) => [approvalId, question]));
}

const path = (id: string) => `/api/chat/${encodeURIComponent(id)}`;

async function ask<T>(url: string, init: RequestInit = {}): Promise<T | undefined> {
  const response = await fetch(url, init).catch((error: Error) => {
    throw new Error(problemWords(error));
  });
  if (response.status === 404) {
    return undefined;
  }
  if (!response.ok) {
    throw new Error(problemWords(new Error(await response.text())));
  }
  return (await response.json()) as T;
}
