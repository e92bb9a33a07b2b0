/** Why a socket does not open, which a browser does not tell: a plain request to its address does. */
import { type ApiError, readRefusal } from './api-error.ts';

/** How long the answer may take. */
const timeoutMs = 5_000;

/** What is answered to whom no socket would be opened: no key, another site, or a plain request. */
const refusals = [401, 403, 426];

/** How the server refuses a socket, or nothing where it can't be reached or says something else. */
export async function probeSocket(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<ApiError | undefined> {
  try {
    // With cookies, as the handshake of a socket has them.
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { credentials: 'include', cache: 'no-store', signal });
    const refusal = refusals.includes(response.status) ? await readRefusal(response) : undefined;
    void response.body?.cancel().catch(() => {});
    return refusal;
  } catch {
    return undefined;
  }
}
