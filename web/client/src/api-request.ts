/** Requests to the server's routes, with what the page adds to each. */
import { ApiError } from './api-error.ts';
import { type HeadersLike, mergeHeaders, type Resolvable, resolve } from './resolvable.ts';

export type ApiAccess = {
  /** Sent with every request, such as the `authorization` by which the server knows the caller. */
  headers?: Resolvable<HeadersLike> | undefined;
  fetch?: typeof globalThis.fetch | undefined;
};

export type ApiRequest = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

export async function requestApi(
  { headers, fetch = globalThis.fetch }: ApiAccess,
  url: string,
  request: ApiRequest = {},
): Promise<Response> {
  const all = mergeHeaders(await resolve(headers), request.headers);
  return fetch(url, { ...request, headers: all });
}

/** A request that brings JSON. */
export function jsonOf(method: 'POST' | 'PATCH', body: string): ApiRequest {
  return { method, headers: { 'content-type': 'application/json' }, body };
}

/** What was asked for, or nothing where the server has no such thing. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      return undefined;
    }
    throw error;
  }
}
