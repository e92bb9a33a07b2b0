/** What is said to those who listen, in one place so that nothing is said twice. */
import { useSyncExternalStore } from 'react';

let said = '';
const listeners = new Set<() => void>();

export function announce(text: string): void {
  // The same words twice in a row are news, too; a live region sees only what changes.
  said = text === said ? `${text}\u00a0` : text;
  for (const listener of listeners) {
    listener();
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Announcer() {
  const text = useSyncExternalStore(subscribe, () => said);
  return (
    <p className="sr-only" aria-live="polite" data-announcer>
      {text}
    </p>
  );
}
