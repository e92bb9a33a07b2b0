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
    // Whoever finds out first is not kept waiting.
    const onDoubt = () => void look();
    window.addEventListener('online', onDoubt);
    window.addEventListener('offline', onDoubt);
    window.addEventListener('adk-stream:doubt', onDoubt);
    return () => {
      isGone = true;
      window.clearTimeout(timer);
      window.removeEventListener('online', onDoubt);
      window.removeEventListener('offline', onDoubt);
      window.removeEventListener('adk-stream:doubt', onDoubt);
    };
  }, []);

  return health;
}

/** Something failed that the network may be to blame for. */
export function doubtServer(): void {
  window.dispatchEvent(new Event('adk-stream:doubt'));
}
