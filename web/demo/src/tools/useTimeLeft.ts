import { useEffect, useState } from 'react';

/** How many seconds are left, counted down; nothing where there is no limit. */
export function useTimeLeft(expiresAt: number | undefined): number | undefined {
  const [now, setNow] = useState(Date.now);

  useEffect(() => {
    if (expiresAt === undefined) {
      return;
    }
    const timer = window.setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= expiresAt) {
        window.clearInterval(timer);
      }
    }, 250);
    return () => window.clearInterval(timer);
  }, [expiresAt]);

  return expiresAt === undefined ? undefined : Math.max(0, Math.ceil((expiresAt - now) / 1000));
}
