import {
  type Approvals,
  type ApprovalsOptions,
  type ApprovalsState,
  approvals,
} from '../approvals.ts';
import { watched } from './watched.ts';

export type OpenApprovals = Readonly<ApprovalsState> &
  Pick<Approvals, 'answer' | 'read' | 'refresh'>;

/** What waits for the person in front of the page, in whichever chat. */
export function useApprovals(options: ApprovalsOptions = {}): OpenApprovals {
  const store = approvals(options);
  const state = watched(store);
  const { answer, read, refresh } = store;
  return {
    get approvals() {
      return state().approvals;
    },
    get isLoaded() {
      return state().isLoaded;
    },
    get error() {
      return state().error;
    },
    answer,
    read,
    refresh,
  };
}
