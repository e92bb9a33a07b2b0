import {
  type Approval,
  type ApprovalAnswer,
  ApprovalChangedError,
  type ApprovalDecision,
} from '@adk-stream/client';
import { useEffect, useRef, useState } from 'react';
import { useWords } from '../language/language.ts';
import { approvalStore } from '../server/approvals.ts';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { doubtServer } from '../server/useServerHealth.ts';

/** What became of an answer on its way to the server. */
export interface Delivery {
  /** `unsure`: the server was not heard of since, and is asked what it knows. */
  state: 'open' | 'sending' | 'unsure' | 'decided';
  note?: string | undefined;
}

interface Options {
  approvalId: string;
  /** Resolves with something to say, where there is, or throws. */
  onAnswer: (answer: ApprovalAnswer) => Promise<string | undefined>;
  /** Something else is asked by now. */
  onChanged: (approval: Approval | undefined) => void;
  /** It was decided, though nobody was told so. */
  onDecided: (decision: ApprovalDecision) => void;
}

/** Between two questions to a server that is away. */
const RETRY_MS = 1_000;

/**
 * Brings an answer to the server, once. Where the server is not heard of afterwards, nothing is sent
 * again: it is asked what was decided until it says so, and until then nobody claims to know.
 */
export function useDelivery(options: Options) {
  const words = useWords();
  const [delivery, setDelivery] = useState<Delivery>({ state: 'open' });
  const latest = useRef({ ...options, words });
  latest.current = { ...options, words };
  const isGone = useRef(false);

  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);

  const findOut = async () => {
    const { approvalId } = latest.current;
    while (!isGone.current) {
      await new Promise(resolve => window.setTimeout(resolve, RETRY_MS));
      try {
        const record = await approvalStore.read(approvalId);
        const { words, onDecided } = latest.current;
        if (record?.decision === undefined) {
          setDelivery({ state: 'open', note: words.approval.undelivered });
        } else {
          setDelivery({ state: 'decided' });
          onDecided(record.decision);
        }
        return;
      } catch {
        doubtServer();
      }
    }
  };

  const answer = async (given: ApprovalAnswer) => {
    const { onAnswer, words } = latest.current;
    setDelivery({ state: 'sending', note: words.approval.sending });
    try {
      setDelivery({ state: 'decided', note: await onAnswer(given) });
    } catch (error) {
      const { onChanged } = latest.current;
      if (error instanceof ApprovalChangedError) {
        onChanged(error.approval);
        setDelivery({ state: 'open' });
        return;
      }
      const problem = problemOf(error);
      if (problem.code === 'network' || problem.code === 'gateway') {
        doubtServer();
        setDelivery({ state: 'unsure', note: words.approval.unsure });
        await findOut();
      } else {
        setDelivery({ state: 'open', note: problemWords(problem, words.problem) });
      }
    }
  };

  return { delivery, answer };
}
