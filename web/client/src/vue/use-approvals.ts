import { type ComputedRef, computed } from 'vue';
import {
  type Approvals,
  type ApprovalsOptions,
  type ApprovalsState,
  approvals,
} from '../approvals.ts';
import { fromReadable } from './from-readable.ts';

export type UseApprovals = {
  [NAME in keyof ApprovalsState]: ComputedRef<ApprovalsState[NAME]>;
} & Pick<Approvals, 'answer' | 'read' | 'refresh'>;

/** What waits for the person in front of the page, in whichever chat. */
export function useApprovals(options: ApprovalsOptions = {}): UseApprovals {
  const store = approvals(options);
  const state = fromReadable(store);
  const { answer, read, refresh } = store;
  return {
    approvals: computed(() => state.value.approvals),
    isLoaded: computed(() => state.value.isLoaded),
    error: computed(() => state.value.error),
    answer,
    read,
    refresh,
  };
}
