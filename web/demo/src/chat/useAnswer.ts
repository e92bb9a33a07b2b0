import type { Answered, ApprovalAnswer, QuestionAnswer } from '@adk-stream/client';
import { useRef } from 'react';
import { approvalStore } from '../server/approvals.ts';

/**
 * Answers a question of this chat.
 *
 * By the approvals' own route and not inside of a chat message: there an answer waits until all questions
 * of the step are answered, and for the network; here it is decided when this returns, bound to what
 * was shown, and nothing that was not is ever sent later. The chat is then read on.
 */
export function useAnswer(follow: () => Promise<void>) {
  const latest = useRef(follow);
  latest.current = follow;

  const answer = useRef(
    async (approvalId: string, given: ApprovalAnswer | QuestionAnswer): Promise<Answered> => {
      const answered = await approvalStore.answer(approvalId, given);
      // It is decided, whether the chat can be read on now or later.
      await latest.current().catch(() => undefined);
      return answered;
    },
  );
  return answer.current;
}
