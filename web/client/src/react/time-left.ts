import { useEffect, useState } from 'react';

/** How many seconds are left, counted down; nothing where there is no limit. */
export function useTimeLeft(
  expiresAt: number | undefined,
  /** What time it is where that is not now: in a chat that is played again. */
  stopped: number | undefined,
): number | undefined {
  const [now, setNow] = useState(Date.now);

  useEffect(() => {
    if (expiresAt === undefined || stopped !== undefined) {
      return;
    }
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= expiresAt) {
        clearInterval(timer);
      }
    }, 250);
    return () => clearInterval(timer);
  }, [expiresAt, stopped]);

  return expiresAt === undefined
    ? undefined
    : Math.max(0, Math.ceil((expiresAt - (stopped ?? now)) / 1000));
}
