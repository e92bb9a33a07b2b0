/** The list of this person's chats, and what they do with it. */
import type { ChatRow } from '@adk-stream/client';
import { fetchWithKey } from './api.ts';
import { RequestError, read } from './problem.ts';

export type ListedChat = ChatRow;

export interface ChatPage {
  chats: ListedChat[];
  nextCursor?: string;
}

export interface ChatQuery {
  search: string;
  archived: boolean;
  cursor?: string | undefined;
}

export async function readChats(query: ChatQuery, signal?: AbortSignal): Promise<ChatPage> {
  const parameters = new URLSearchParams({ archived: String(query.archived) });
  if (query.search !== '') {
    parameters.set('q', query.search);
  }
  if (query.cursor !== undefined) {
    parameters.set('cursor', query.cursor);
  }
  return (await request(`/api/chats?${parameters}`, signal && { signal })).json();
}

export async function updateChat(
  id: string,
  change: { title?: string; archived?: boolean },
): Promise<ListedChat> {
  const response = await request(`/api/chats/${encodeURIComponent(id)}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(change),
  });
  return response.json();
}

export async function deleteChat(id: string): Promise<void> {
  await request(`/api/chats/${encodeURIComponent(id)}`, { method: 'DELETE' }, [404]);
}

async function request(
  url: string,
  init: RequestInit = {},
  allowed: number[] = [],
): Promise<Response> {
  const response = await fetchWithKey(url, init);
  if (!response.ok && !allowed.includes(response.status)) {
    throw new RequestError(read(await response.text()));
  }
  return response;
}
