/** What is said to those who listen, in one place so that nothing is said twice. */
import { useSyncExternalStore } from 'react';

let said = '';
const listeners = new Set<() => void>();
/** What was said under a name. */
const once = new Set<string>();

export function announce(text: string): void {
  // The same text twice in a row is announced, too; a live region sees only what changes.
  said = text === said ? `${text}\u00a0` : text;
  for (const listener of listeners) {
    listener();
  }
}

/** Says it, unless something was said under this name: a question may be shown in two places. */
export function announceOnce(name: string, text: string): void {
  if (!once.has(name)) {
    once.add(name);
    announce(text);
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
