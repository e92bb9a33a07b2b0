import type { Approval, ApprovalDecision } from '@adk-stream/client';
import { ApiError } from '@adk-stream/client';
import { useCallback, useEffect, useState } from 'react';
import { approvalStore } from '../server/approvals.ts';
import { checkServer } from '../server/useServerHealth.ts';

/** What the server says of an approval. */
export interface ServerRecord {
  /** What is asked, word for word; missing until it was read. */
  approval?: Approval;
  /** Missing while it is open. */
  decision?: ApprovalDecision;
  /** Whether it was asked again, as something else, since this page has shown it. */
  hasChanged?: boolean;
}

/** Between two attempts to read it. */
const RETRY_MS = 1_000;

/**
 * The server's own record of an approval: what a person says yes to is taken from there, and not from
 * what the chat has made of it. Also returns a function that puts another in its place.
 */
export function useApprovalRecord(
  approvalId: string,
  isLive: boolean,
): [ServerRecord, (next: ServerRecord) => void] {
  const [record, setRecord] = useState<ServerRecord>({});

  useEffect(() => {
    if (!isLive) {
      return;
    }
    let timer: number | undefined;
    let isGone = false;
    const read = async () => {
      try {
        const found = await approvalStore.read(approvalId);
        if (!isGone && found === undefined) {
          // Another server may know it a moment later.
          timer = window.setTimeout(read, RETRY_MS);
        } else if (!isGone && found !== undefined) {
          const { decision, ...approval } = found;
          setRecord(decision === undefined ? { approval } : { approval, decision });
        }
      } catch (error) {
        // A refusal stays one; a server that is away comes back.
        if (!isGone && !(error instanceof ApiError && error.status < 500)) {
          checkServer();
          timer = window.setTimeout(read, RETRY_MS);
        }
      }
    };
    void read();
    return () => {
      isGone = true;
      window.clearTimeout(timer);
    };
  }, [approvalId, isLive]);

  return [record, useCallback(next => setRecord(next), [])];
}
