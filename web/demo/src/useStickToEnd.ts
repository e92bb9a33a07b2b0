import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';

/** This near to its end, the page counts as read to the end. */
const NEAR_PX = 80;

/**
 * Keeps the end of the page in view whenever the component has changed, unless the reader has gone
 * up to read.
 *
 * Returns a way to go back to the end: what somebody has just said is to be seen.
 */
export function useStickToEnd(isOn: boolean) {
  const isAtEnd = useRef(true);

  useEffect(() => {
    const onScroll = () => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
      isAtEnd.current = scrollHeight - clientHeight - scrollTop < NEAR_PX;
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => window.removeEventListener('scroll', onScroll);
  }, []);

  useLayoutEffect(() => {
    if (isOn && isAtEnd.current) {
      window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
    }
  });

  return useCallback(() => {
    isAtEnd.current = true;
  }, []);
}
