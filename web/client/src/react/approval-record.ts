import { useCallback, useEffect, useState } from 'react';
import { ApiError } from '../api-error.ts';
import type { Approval, ApprovalDecision, ApprovalRecord } from '../approval.ts';
import { pause } from '../pause.ts';

/** What the server says of an approval. */
export type ServedApproval = {
  /** What is asked, word for word; missing until it was read. */
  approval?: Approval;
  /** Missing while it is open. */
  decision?: ApprovalDecision;
  /** Whether it was asked again, as something else, since this page has shown it. */
  hasChanged?: boolean;
};

/** Between two attempts to read it. */
const RETRY_MS = 1_000;

/**
 * The server's own record of an approval: what a person says yes to is taken from there, and not from
 * what a chat has made of it. Also returns a function that puts another in its place. Without `read`,
 * nothing is read.
 */
export function useApprovalRecord(
  approvalId: string,
  read: ((approvalId: string) => Promise<ApprovalRecord | undefined>) | undefined,
): [ServedApproval, (next: ServedApproval) => void] {
  const [record, setRecord] = useState<ServedApproval>({});

  useEffect(() => {
    if (read === undefined) {
      return;
    }
    const gone = new AbortController();
    const follow = async () => {
      while (!gone.signal.aborted) {
        try {
          const found = await read(approvalId);
          if (gone.signal.aborted) {
            return;
          }
          if (found !== undefined) {
            const { decision, ...approval } = found;
            setRecord(decision === undefined ? { approval } : { approval, decision });
            return;
          }
          // Another server may know it a moment later.
        } catch (error) {
          // A refusal stays one; a server that is away comes back.
          if (error instanceof ApiError && error.status < 500) {
            return;
          }
        }
        await pause(RETRY_MS, gone.signal).catch(() => undefined);
      }
    };
    void follow();
    return () => gone.abort();
  }, [approvalId, read]);

  return [record, useCallback(next => setRecord(next), [])];
}
