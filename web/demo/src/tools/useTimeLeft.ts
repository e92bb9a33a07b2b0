import { createContext, useContext, useEffect, useState } from 'react';

/** What time it is where that is not now: in a chat that is played again. */
export const ClockContext = createContext<number | undefined>(undefined);

/** How many seconds are left, counted down; nothing where there is no limit. */
export function useTimeLeft(expiresAt: number | undefined): number | undefined {
  const stopped = useContext(ClockContext);
  const [now, setNow] = useState(Date.now);

  useEffect(() => {
    if (expiresAt === undefined || stopped !== undefined) {
      return;
    }
    const timer = window.setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= expiresAt) {
        window.clearInterval(timer);
      }
    }, 250);
    return () => window.clearInterval(timer);
  }, [expiresAt, stopped]);

  return expiresAt === undefined
    ? undefined
    : Math.max(0, Math.ceil((expiresAt - (stopped ?? now)) / 1000));
}
