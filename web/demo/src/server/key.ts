/** The key that the server wants, where it wants one; kept for the tab alone. */

const STORAGE = 'adk-stream.key';
const listeners = new Set<() => void>();
let isWanted = false;
let isRefused = false;

export interface KeyState {
  /** Whether the server has asked for one. */
  isWanted: boolean;
  /** Whether it did not take the one that it was given. */
  isRefused: boolean;
}

let state: KeyState = { isWanted, isRefused };

export function subscribeToKey(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function keyState(): KeyState {
  return state;
}

export function giveKey(key: string): void {
  sessionStorage.setItem(STORAGE, key);
  notify(false, false);
}

/** The server answered 401. */
export function keyWasRefused(): void {
  notify(true, sessionStorage.getItem(STORAGE) !== null);
}

export function keyHeaders(): Record<string, string> {
  const key = sessionStorage.getItem(STORAGE);
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

export function hasKey(): boolean {
  return sessionStorage.getItem(STORAGE) !== null;
}

function notify(wanted: boolean, refused: boolean): void {
  isWanted = wanted;
  isRefused = refused;
  state = { isWanted, isRefused };
  for (const listener of listeners) {
    listener();
  }
}
