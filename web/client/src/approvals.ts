/** What waits for a person, in whichever chat, and the answers to it. */
import { ApiError, readJson } from './api-error.ts';
import { isRecord } from './chunk.ts';
import { type HeadersLike, mergeHeaders, type Resolvable, resolve } from './resolvable.ts';
import { type Readable, Store } from './store.ts';

/** A question that is open. */
export type Approval = {
  approvalId: string;
  chatId: string;
  toolCallId: string;
  toolName: string;
  input: unknown;
  question: string;
  /** Milliseconds since 1970. */
  askedAt: number;
  expiresAt?: number;
  /** Whether another input may be put in place of the model's. An agent that runs its own tools takes none. */
  editable?: boolean;
};

export type ApprovalAnswer = {
  approved: boolean;
  /** Told to the model. */
  reason?: string;
  /** What to run the tool with in place of what was asked; only with a yes. */
  input?: unknown;
};

/** What was decided, by whom and when. */
export type ApprovalDecision = {
  approvalId: string;
  /** Missing where nobody answered: then `decision` says what became of it. */
  approved?: boolean;
  decision?: 'timed-out' | 'superseded' | 'cancelled';
  reason?: string;
  input?: unknown;
  decidedBy?: string;
  decidedAt: number;
};

/** `isOurs` is whether it was decided as we answered; if not, somebody else was first. */
export type Answered = { isOurs: boolean; decision: ApprovalDecision };

export type ApprovalsState = {
  approvals: readonly Approval[];
  /** Whether the list was ever read. */
  isLoaded: boolean;
  /** Why it could not be read the last time; the list is then an old one. */
  error: Error | undefined;
};

export type ApprovalsOptions = {
  /** Where approvals are served, `/api/approvals` if nothing is said. */
  api?: string;
  headers?: Resolvable<HeadersLike>;
  /** How often the list is read while somebody looks at it: every 5 seconds; 0 is never. */
  pollMs?: number;
  fetch?: typeof globalThis.fetch;
};

export type Approvals = Readable<ApprovalsState> & {
  /** Reads the list now. */
  refresh: () => Promise<void>;
  /** Answers; throws an {@link ApiError} where the answer is refused. */
  answer: (approvalId: string, answer: ApprovalAnswer) => Promise<Answered>;
};

/** Reads while it has subscribers, when they come back to the page, and after every answer. */
export function approvals(options: ApprovalsOptions = {}): Approvals {
  const { api = '/api/approvals', pollMs = 5_000 } = options;
  const store = new Store<ApprovalsState>({ approvals: [], isLoaded: false, error: undefined });
  const answered = new Set<string>();
  let subscribers = 0;
  let reads = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const request = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const { headers, fetch = globalThis.fetch } = options;
    const all = mergeHeaders(await resolve(headers), init.headers as Record<string, string>);
    return readJson(await fetch(`${api}${path}`, { ...init, headers: all }));
  };

  const refresh = async (): Promise<void> => {
    const read = ++reads;
    const before = store.get();
    let state: ApprovalsState;
    try {
      const list = listOf(await request(''));
      // A list that was on its way when an answer went out still asks the question.
      const open = list.filter(({ approvalId }) => !answered.has(approvalId));
      const approvals = isSame(open, before.approvals) ? before.approvals : open;
      state = { approvals, isLoaded: true, error: undefined };
    } catch (error) {
      state = { ...before, error: error instanceof Error ? error : new Error(String(error)) };
    }
    // Only the newest may speak.
    if (read === reads && !isEqual(state, store.get())) {
      store.set(state);
    }
  };

  const poll = (): void => {
    clearTimeout(timer);
    if (subscribers > 0 && pollMs > 0) {
      timer = setTimeout(() => {
        void (isHidden() ? undefined : refresh());
        poll();
      }, pollMs);
    }
  };

  const onReturn = (): void => {
    if (!isHidden()) {
      void refresh();
      poll();
    }
  };

  const answer = async (approvalId: string, given: ApprovalAnswer): Promise<Answered> => {
    const told = await decided(() =>
      request(`/${encodeURIComponent(approvalId)}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(given),
      }),
    );
    answered.add(approvalId);
    const state = store.get();
    const left = state.approvals.filter(open => open.approvalId !== approvalId);
    store.set({ ...state, approvals: left });
    void refresh();
    return told;
  };

  return {
    get: store.get,
    refresh,
    answer,
    subscribe: listener => {
      const unsubscribe = store.subscribe(listener);
      if (++subscribers === 1) {
        globalThis.addEventListener?.('focus', onReturn);
        globalThis.document?.addEventListener('visibilitychange', onReturn);
        void refresh();
        poll();
      }
      let isIn = true;
      return () => {
        unsubscribe();
        if (isIn && --subscribers === 0) {
          clearTimeout(timer);
          globalThis.removeEventListener?.('focus', onReturn);
          globalThis.document?.removeEventListener('visibilitychange', onReturn);
        }
        isIn = false;
      };
    },
  };
}

/** An answer that came too late is not an error: it is told what was decided. */
async function decided(request: () => Promise<unknown>): Promise<Answered> {
  try {
    return { isOurs: true, decision: (await request()) as ApprovalDecision };
  } catch (error) {
    if (error instanceof ApiError && error.status === 409 && isRecord(error.body)) {
      const { decision } = error.body;
      if (isRecord(decision)) {
        return { isOurs: false, decision: decision as ApprovalDecision };
      }
    }
    throw error;
  }
}

function listOf(body: unknown): Approval[] {
  return isRecord(body) && Array.isArray(body.approvals) ? (body.approvals as Approval[]) : [];
}

function isSame(a: readonly Approval[], b: readonly Approval[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isEqual(a: ApprovalsState, b: ApprovalsState): boolean {
  return a.approvals === b.approvals && a.isLoaded === b.isLoaded && a.error === b.error;
}

function isHidden(): boolean {
  return globalThis.document?.visibilityState === 'hidden';
}
