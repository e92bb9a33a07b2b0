/** What waits for a person, in whichever chat, and the answers to it. */
import { ApiError } from './api-error.ts';
import {
  type ApiAccess,
  type ApiRequest,
  jsonOf,
  requestApi,
  unlessMissing,
} from './api-request.ts';
import {
  type Approval,
  type ApprovalAnswer,
  ApprovalChangedError,
  type ApprovalDecision,
  type ApprovalRecord,
  approvalOf,
  bodyOf,
  type QuestionAnswer,
  readAll,
  readServed,
  type Served,
} from './approval.ts';
import { isRecord } from './chunk.ts';
import { RecentMap } from './recent-map.ts';
import { type ServerEvents, serverEvents } from './server-events.ts';
import { type Readable, Store } from './store.ts';

/** `isOurs` is whether it was decided as we answered; if not, somebody else was first. */
export type Answered = { isOurs: boolean; decision: ApprovalDecision };

export type ApprovalsState = {
  approvals: readonly Approval[];
  /** Whether the list was ever read. */
  isLoaded: boolean;
  /** Why it could not be read the last time; the list is then an old one. */
  error: Error | undefined;
};

export type ApprovalsOptions = ApiAccess & {
  /** Where approvals are served, `/api/approvals` if nothing is said. */
  api?: string;
  /** What says that the list changed: a stream of its own, `events` beside `api`, if nothing is given. */
  events?: Pick<ServerEvents, 'subscribe'>;
  /** Reads the list every so often in place of a stream of its own, where none gets through; 0 is never. */
  pollMs?: number;
};

export type Approvals = Readable<ApprovalsState> & {
  /** Reads the list now. */
  refresh: () => Promise<void>;
  /**
   * Reads one approval, open or decided, to be shown; nothing where there is none for this person. Its
   * digest goes with an answer that names none.
   */
  read: (approvalId: string) => Promise<ApprovalRecord | undefined>;
  /**
   * Answers; throws an {@link ApiError} where the answer is refused, and an {@link
   * ApprovalChangedError} where it was given to something else than what is asked now. Of an answer that
   * does not fit the schema of a question, `fieldErrorsOf` says what is wrong.
   */
  answer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
  /**
   * What was shown of an approval, for `withDigests` and `AdkStreamChatTransport`: what the list said
   * first, or what was read since, or what an {@link ApprovalChangedError} brought. A list that is
   * read again changes it not: nobody may have seen that yet.
   */
  digestOf: (approvalId: string) => string | undefined;
};

/** For how many approvals digests are remembered. */
const MAX_DIGESTS = 1_000;

/** Reads while it has subscribers, when they come back to the page, and after every answer. */
export function approvals(options: ApprovalsOptions = {}): Approvals {
  const { api = '/api/approvals', pollMs } = options;
  const own = () => serverEvents({ ...options, api: api.replace(/[^/]*$/, 'events') });
  const events = options.events ?? (pollMs === undefined ? own() : undefined);
  const answered = new Set<string>();
  const digests = new RecentMap<string>(MAX_DIGESTS);
  let reads = 0;

  const request = async (path: string, init?: ApiRequest): Promise<Served> =>
    readServed(await requestApi(options, `${api}${path}`, init));

  const remember = ({ approvalId, digest }: Approval): void => {
    if (digest === undefined) {
      digests.delete(approvalId);
    } else {
      digests.set(approvalId, digest);
    }
  };

  const refresh = async (): Promise<void> => {
    const read = ++reads;
    const before = store.get();
    let state: ApprovalsState;
    try {
      const list = await readAll(request);
      // A list that was on its way when an answer went out still asks the question.
      const open = list.filter(({ approvalId }) => !answered.has(approvalId));
      const approvals = isSame(open, before.approvals) ? before.approvals : open;
      for (const approval of approvals) {
        if (!digests.has(approval.approvalId)) {
          remember(approval);
        }
      }
      state = { approvals, isLoaded: true, error: undefined };
    } catch (error) {
      state = { ...before, error: error instanceof Error ? error : new Error(String(error)) };
    }
    // Only the newest may speak.
    if (read === reads && !isEqual(state, store.get())) {
      store.set(state);
    }
  };

  const refreshIfSeen = (): void => {
    if (globalThis.document?.visibilityState !== 'hidden') {
      void refresh();
    }
  };

  const store = new Store<ApprovalsState>(
    { approvals: [], isLoaded: false, error: undefined },
    () => {
      const watching = new AbortController();
      const { signal } = watching;
      globalThis.addEventListener?.('focus', refreshIfSeen, { signal });
      globalThis.document?.addEventListener('visibilitychange', refreshIfSeen, { signal });
      const leaveEvents = events?.subscribe(({ type }) => {
        if (type !== 'chat') {
          void refresh();
        }
      });
      const timer = pollMs ? setInterval(refreshIfSeen, pollMs) : undefined;
      void refresh();
      return () => {
        watching.abort();
        leaveEvents?.();
        clearInterval(timer);
      };
    },
  );

  const answer = async (
    approvalId: string,
    given: ApprovalAnswer | QuestionAnswer,
  ): Promise<Answered> => {
    const digest = given.digest ?? digests.get(approvalId);
    let result: Answered;
    try {
      const body = bodyOf({ ...given, ...(digest !== undefined && { digest }) });
      const served = await request(`/${encodeURIComponent(approvalId)}`, jsonOf('POST', body));
      result = { isOurs: true, decision: served.body as ApprovalDecision };
    } catch (error) {
      if (error instanceof ApprovalChangedError) {
        // It is shown now, and the next answer is to it.
        if (error.approval !== undefined) {
          remember(error.approval);
        }
        void refresh();
      }
      const decision = earlierDecision(error);
      if (decision === undefined) {
        throw error;
      }
      result = { isOurs: false, decision };
    }
    answered.add(approvalId);
    const state = store.get();
    const left = state.approvals.filter(open => open.approvalId !== approvalId);
    store.set({ ...state, approvals: left });
    void refresh();
    return result;
  };

  const read = async (approvalId: string): Promise<ApprovalRecord | undefined> => {
    const served = await unlessMissing(request(`/${encodeURIComponent(approvalId)}`));
    const record = served && approvalOf(served.body, served.exact);
    if (record !== undefined) {
      remember(record);
    }
    return record;
  };

  return {
    get: store.get,
    refresh,
    read,
    answer,
    digestOf: approvalId => digests.get(approvalId),
    subscribe: store.subscribe,
  };
}

/** The decision that a refusal brings, where the answer came too late. */
function earlierDecision(error: unknown): ApprovalDecision | undefined {
  const body = error instanceof ApiError && error.status === 409 ? error.body : undefined;
  return isRecord(body) && isRecord(body.decision)
    ? (body.decision as ApprovalDecision)
    : undefined;
}

function isSame(a: readonly Approval[], b: readonly Approval[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isEqual(a: ApprovalsState, b: ApprovalsState): boolean {
  return a.approvals === b.approvals && a.isLoaded === b.isLoaded && a.error === b.error;
}
