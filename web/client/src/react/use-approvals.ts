import { useMemo, useRef, useSyncExternalStore } from 'react';
import type { ApprovalAnswer, ApprovalRecord, QuestionAnswer } from '../approval.ts';
import {
  type Answered,
  type ApprovalsOptions,
  type ApprovalsState,
  approvals,
} from '../approvals.ts';
import { resolve } from '../resolvable.ts';

export type UseApprovals = ApprovalsState & {
  /** Says yes, with a reason or another input if there is one. */
  approve: (approvalId: string, answer?: Omit<ApprovalAnswer, 'approved'>) => Promise<Answered>;
  /** Denies; the reason is sent to the model. */
  deny: (
    approvalId: string,
    answer?: Pick<ApprovalAnswer, 'reason' | 'digest'>,
  ) => Promise<Answered>;
  /** Answers a question that asks for data, or declines to; or any other, as `approve` and `deny` do. */
  answer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
  /** Reads one approval, open or decided. */
  read: (approvalId: string) => Promise<ApprovalRecord | undefined>;
  refresh: () => Promise<void>;
};

/** What waits for the person in front of the page, in whichever chat. */
export function useApprovals(options: ApprovalsOptions = {}): UseApprovals {
  const { api, pollMs, events } = options;
  // Headers and fetch may be other functions with every render: that is no reason to begin again.
  const latest = useRef(options);
  latest.current = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is another store
  const store = useMemo(
    () =>
      approvals({
        ...latest.current,
        headers: async () => (await resolve(latest.current.headers)) ?? {},
        fetch: (input, init) => (latest.current.fetch ?? globalThis.fetch)(input, init),
      }),
    [api, pollMs, events],
  );
  const state = useSyncExternalStore(store.subscribe, store.get, store.get);
  return useMemo(
    () => ({
      ...state,
      approve: (id, answer = {}) => store.answer(id, { approved: true, ...answer }),
      deny: (id, answer = {}) => store.answer(id, { approved: false, ...answer }),
      answer: store.answer,
      read: store.read,
      refresh: store.refresh,
    }),
    [state, store],
  );
}
