/**
 * The outcomes of the calls that this page ran: a call that is announced again, by a chat that was
 * mounted twice or a page that was reloaded, is not run again.
 */
import { isRecord } from './chunk.ts';

/** What a page says about a call that it ran. */
export type ToolRun = { output: unknown } | { errorText: string };

/** `started` is all that is known of a call which ran when the page was reloaded. */
type Stored = 'started' | ToolRun;

/** `running` is a call of this page. */
export type Remembered = 'running' | Stored;

/** The part of `sessionStorage` that is used. */
export type CallStorage = Pick<Storage, 'getItem' | 'setItem'>;

const storageKey = 'adk-stream.calls';

/** Old calls are forgotten: their chats are long past them. */
const limit = 200;

export class CallMemory {
  readonly #storage: CallStorage | undefined;
  readonly #calls = new Map<string, Remembered>();

  constructor(storage: CallStorage | undefined) {
    this.#storage = storage;
  }

  get(toolCallId: string): Remembered | undefined {
    return this.#calls.get(toolCallId) ?? read(this.#storage).get(toolCallId);
  }

  set(toolCallId: string, run: 'running' | ToolRun): void {
    this.#calls.set(toolCallId, run);
    // Read again: other chats of the page keep theirs in the same place.
    const stored = read(this.#storage);
    stored.delete(toolCallId);
    stored.set(toolCallId, run === 'running' ? 'started' : run);
    try {
      this.#storage?.setItem(storageKey, JSON.stringify([...stored].slice(-limit)));
    } catch {
      // It is full, or not allowed: the memory of this page has to do.
    }
  }
}

function read(storage: CallStorage | undefined): Map<string, Stored> {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(storageKey) ?? '[]');
    return new Map(Array.isArray(stored) ? stored.filter(isEntry) : []);
  } catch {
    return new Map();
  }
}

function isEntry(entry: unknown): entry is [string, Stored] {
  if (!Array.isArray(entry) || typeof entry[0] !== 'string') {
    return false;
  }
  const run: unknown = entry[1];
  return run === 'started' || (isRecord(run) && ('output' in run || 'errorText' in run));
}

/** The tab's own storage, where there is one: it outlives a reload and not the tab. */
export function tabStorage(): CallStorage | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    // Pages may be forbidden to look.
    return undefined;
  }
}
