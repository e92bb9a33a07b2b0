import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../api-error.ts';
import {
  type Approval,
  ApprovalChangedError,
  type ApprovalDecision,
  type ApprovalRecord,
} from '../approval.ts';
import type { Answered } from '../approvals.ts';
import { pause } from '../pause.ts';
import { type FieldError, fieldErrorsOf } from '../question.ts';
import { useParts } from './parts-context.tsx';

/** The outcome of an answer on its way to the server. */
export type Delivery = {
  /** `unsure`: the server has not responded since, and is asked for its state. */
  state: 'open' | 'sending' | 'unsure' | 'decided';
  note?: string | undefined;
};

export type DeliveryOptions<Answer> = {
  onAnswer: (answer: Answer) => Promise<Answered>;
  /** Reads the approval, to find out what was decided if the response to an answer is lost. */
  read: () => Promise<ApprovalRecord | undefined>;
  /** Something else is asked by now. */
  onChanged?: ((approval: Approval | undefined) => void) | undefined;
  /** It was decided, though the response was lost. */
  onDecided?: ((decision: ApprovalDecision) => void) | undefined;
};

/** Between two questions to a server that is away. */
const RETRY_MS = 1_000;

/** Whether nobody responded, or a proxy in the server's place: an answer may have arrived. */
function isUnreachable(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof ApiError && error.code === '' && error.status >= 502)
  );
}

/**
 * Sends an answer to the server, once. Where the server does not respond, nothing is sent
 * again: it is asked what was decided until it says so, and until then nobody claims to know. That it
 * has no answer says nothing of one that may still be on its way; the person may give it again, since
 * one answer counts.
 */
export function useDelivery<Answer>(options: DeliveryOptions<Answer>): {
  delivery: Delivery;
  /** What is wrong with the data that was given last. */
  errors: readonly FieldError[];
  answer: (answer: Answer) => Promise<void>;
} {
  const { labels } = useParts();
  const [delivery, setDelivery] = useState<Delivery>({ state: 'open' });
  const [errors, setErrors] = useState<readonly FieldError[]>([]);
  const latest = useRef({ ...options, words: labels.approval });
  latest.current = { ...options, words: labels.approval };
  /** Which answer is under way: of an earlier one, nothing is said any more. */
  const attempt = useRef(0);

  useEffect(
    () => () => {
      attempt.current += 1;
    },
    [],
  );

  const findOut = async (own: number) => {
    while (own === attempt.current) {
      await pause(RETRY_MS);
      const record = await latest.current.read().catch(() => 'away' as const);
      if (own !== attempt.current) {
        return;
      }
      if (record !== 'away') {
        if (record?.decision !== undefined) {
          setDelivery({ state: 'decided' });
          latest.current.onDecided?.(record.decision);
          return;
        }
        setDelivery({ state: 'open', note: latest.current.words.unreceived });
      }
    }
  };

  const answer = async (given: Answer) => {
    attempt.current += 1;
    const own = attempt.current;
    const { onAnswer, words } = latest.current;
    setErrors([]);
    setDelivery({ state: 'sending', note: words.sending });
    try {
      const { isOurs, decision } = await onAnswer(given);
      setDelivery({
        state: 'decided',
        note: isOurs ? undefined : words.elsewhere(decision.decidedBy ?? '?'),
      });
    } catch (error) {
      const wrong = fieldErrorsOf(error);
      if (error instanceof ApprovalChangedError) {
        latest.current.onChanged?.(error.approval);
        setDelivery({ state: 'open' });
      } else if (wrong.length > 0) {
        setErrors(wrong);
        setDelivery({ state: 'open', note: labels.question.invalid });
      } else if (isUnreachable(error)) {
        setDelivery({ state: 'unsure', note: words.unsure });
        await findOut(own);
      } else {
        setDelivery({ state: 'open', note: words.failed(error) });
      }
    }
  };

  return { delivery, errors, answer };
}
