/** A choice that the browser remembers. */
import { useSyncExternalStore } from 'react';

export interface Setting<T extends string> {
  get: () => T;
  set: (value: T) => void;
  subscribe: (listener: () => void) => () => void;
}

export function setting<T extends string>(
  name: string,
  values: readonly T[],
  otherwise: T,
): Setting<T> {
  const key = `adk-stream.${name}`;
  const listeners = new Set<() => void>();
  let value = values.find(known => known === stored(key)) ?? otherwise;

  return {
    get: () => value,
    set: next => {
      value = next;
      try {
        localStorage.setItem(key, next);
      } catch {
        // Not allowed: then it holds until the page is left.
      }
      for (const listener of listeners) {
        listener();
      }
    },
    subscribe: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useSetting<T extends string>(of: Setting<T>): T {
  return useSyncExternalStore(of.subscribe, of.get);
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
