import { useMemo, useRef, useSyncExternalStore } from 'react';
import type { ApprovalAnswer } from '../approval.ts';
import {
  type Answered,
  type Approvals,
  type ApprovalsOptions,
  type ApprovalsState,
  approvals,
} from '../approvals.ts';
import { resolve } from '../resolvable.ts';

export type UseApprovals = ApprovalsState &
  Pick<Approvals, 'answer' | 'read' | 'refresh'> & {
    /** Says yes, with a reason or another input if there is one. */
    approve: (approvalId: string, answer?: Omit<ApprovalAnswer, 'approved'>) => Promise<Answered>;
    /** Denies; the reason is sent to the model. */
    deny: (
      approvalId: string,
      answer?: Pick<ApprovalAnswer, 'reason' | 'digest'>,
    ) => Promise<Answered>;
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
  const { answer, read, refresh } = store;
  return useMemo(
    () => ({
      ...state,
      approve: (id, more) => answer(id, { approved: true, ...more }),
      deny: (id, more) => answer(id, { approved: false, ...more }),
      answer,
      read,
      refresh,
    }),
    [state, answer, read, refresh],
  );
}
