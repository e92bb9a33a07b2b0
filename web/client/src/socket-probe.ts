/** Why a socket does not open, which a browser does not tell: a plain request to its address does. */
import { ApiError, readRefusal } from './api-error.ts';

/** How long the answer may take. */
const timeoutMs = 5_000;

/**
 * What is answered to a plain request for the address of a socket, whichever status that has; nothing,
 * where it can't be reached. The server itself says 426 to whom it would open a socket.
 */
export async function probeSocket(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<ApiError | undefined> {
  try {
    // With cookies, as the handshake of a socket has them.
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { credentials: 'include', cache: 'no-store', signal });
    if (!response.ok) {
      return await readRefusal(response);
    }
    void response.body?.cancel().catch(() => {});
    return new ApiError(response.status, undefined);
  } catch {
    return undefined;
  }
}
