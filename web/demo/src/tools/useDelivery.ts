import {
  type Approval,
  type ApprovalAnswer,
  ApprovalChangedError,
  type ApprovalDecision,
  type FieldError,
  fieldErrorsOf,
} from '@adk-stream/client';
import { useEffect, useRef, useState } from 'react';
import { useWords } from '../language/language.ts';
import { approvalStore } from '../server/approvals.ts';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { checkServer } from '../server/useServerHealth.ts';

/** The outcome of a answer on its way to the server. */
export interface Delivery {
  /** `unsure`: the server has not responded since, and is asked for its state. */
  state: 'open' | 'sending' | 'unsure' | 'decided';
  note?: string | undefined;
}

interface Options<Answer> {
  approvalId: string;
  /** Resolves with something to say, where there is, or throws. */
  onAnswer: (answer: Answer) => Promise<string | undefined>;
  /** The data that was given is not what is asked for; with nothing, it was sent again. */
  onInvalid?: (errors: readonly FieldError[]) => void;
  /** Something else is asked by now. */
  onChanged: (approval: Approval | undefined) => void;
  /** It was decided, though the response was lost. */
  onDecided: (decision: ApprovalDecision) => void;
}

/** Between two questions to a server that is away. */
const RETRY_MS = 1_000;

/**
 * Sends an answer to the server, once. Where the server does not respond, nothing is sent
 * again: it is asked what was decided until it says so, and until then nobody claims to know. That it
 * has no answer says nothing of one that may still be on its way; the person may give it again, since
 * one answer counts.
 */
export function useDelivery<Answer = ApprovalAnswer>(options: Options<Answer>) {
  const words = useWords();
  const [delivery, setDelivery] = useState<Delivery>({ state: 'open' });
  const latest = useRef({ ...options, words });
  latest.current = { ...options, words };
  /** Which answer is under way: of an earlier one, nothing is said any more. */
  const attempt = useRef(0);

  useEffect(
    () => () => {
      attempt.current += 1;
    },
    [],
  );

  const findOut = async (own: number) => {
    const { approvalId } = latest.current;
    while (own === attempt.current) {
      await new Promise(resolve => window.setTimeout(resolve, RETRY_MS));
      try {
        const record = await approvalStore.read(approvalId);
        const { words, onDecided } = latest.current;
        if (own !== attempt.current) {
          return;
        }
        if (record?.decision !== undefined) {
          setDelivery({ state: 'decided' });
          onDecided(record.decision);
          return;
        }
        setDelivery({ state: 'open', note: words.approval.unreceived });
      } catch {
        checkServer();
      }
    }
  };

  const answer = async (given: Answer) => {
    attempt.current += 1;
    const own = attempt.current;
    const { onAnswer, onInvalid, words } = latest.current;
    onInvalid?.([]);
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
      const wrong = fieldErrorsOf(error);
      if (wrong.length > 0) {
        onInvalid?.(wrong);
        setDelivery({ state: 'open', note: words.question.invalid });
        return;
      }
      const problem = problemOf(error);
      if (problem.code === 'network' || problem.code === 'gateway') {
        checkServer();
        setDelivery({ state: 'unsure', note: words.approval.unsure });
        await findOut(own);
      } else {
        setDelivery({ state: 'open', note: problemWords(problem, words.problem) });
      }
    }
  };

  return { delivery, answer };
}
