import { useEffect, useState } from 'react';

export type Health = 'looking' | 'up' | 'away';

const PAUSE_MS = { looking: 500, up: 10_000, away: 1_000 };

/** Whether the server answers: looked at now and then, and more often while it does not. */
export function useServerHealth(): Health {
  const [health, setHealth] = useState<Health>('looking');

  useEffect(() => {
    let timer: number | undefined;
    let isGone = false;
    const look = async () => {
      window.clearTimeout(timer);
      const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined);
      if (isGone) {
        return;
      }
      const next = answer?.ok === true ? 'up' : 'away';
      setHealth(next);
      timer = window.setTimeout(look, PAUSE_MS[next]);
    };
    void look();
    // A failed request triggers a check at once.
    const onCheck = () => void look();
    window.addEventListener('online', onCheck);
    window.addEventListener('offline', onCheck);
    window.addEventListener('adk-stream:check-server', onCheck);
    return () => {
      isGone = true;
      window.clearTimeout(timer);
      window.removeEventListener('online', onCheck);
      window.removeEventListener('offline', onCheck);
      window.removeEventListener('adk-stream:check-server', onCheck);
    };
  }, []);

  return health;
}

/** Something failed that the network may be to blame for. */
export function checkServer(): void {
  window.dispatchEvent(new Event('adk-stream:check-server'));
}
