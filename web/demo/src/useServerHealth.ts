import { useEffect, useState } from 'react';

/** Whether the server is there, as far as the page knows. */
export type Health = 'unknown' | 'up' | 'away';

const PAUSE_MS = 2_000;
/** A server that does not answer in this time is as good as away. */
const PATIENCE_MS = 5_000;

/** Asks /healthz again and again for as long as the component is shown. */
export function useServerHealth(): Health {
  const [health, setHealth] = useState<Health>('unknown');

  useEffect(() => {
    const gone = new AbortController();
    let timer: number | undefined;

    // One question at a time: the next waits for the answer, so a slow server is not flooded.
    const ask = async () => {
      const answer = await askServer(gone.signal);
      if (!gone.signal.aborted) {
        setHealth(answer);
        timer = window.setTimeout(ask, PAUSE_MS);
      }
    };
    void ask();

    return () => {
      gone.abort();
      window.clearTimeout(timer);
    };
  }, []);

  return health;
}

async function askServer(gone: AbortSignal): Promise<Health> {
  try {
    const signal = AbortSignal.any([gone, AbortSignal.timeout(PATIENCE_MS)]);
    const response = await fetch('/healthz', { signal });
    // Whatever else answers under this address, a proxy's error page say, is not the server.
    const body: unknown = response.ok ? await response.json() : undefined;
    return isOk(body) ? 'up' : 'away';
  } catch {
    return 'away';
  }
}

function isOk(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'status' in body && body.status === 'ok';
}
