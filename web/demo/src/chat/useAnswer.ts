import { type ApprovalAnswer, approvals } from '@adk-stream/client';
import type { UseChatHelpers } from '@ai-sdk/react';
import { useRef } from 'react';
import { useWords } from '../language/language.ts';
import { fetchWithKey, type Message } from '../server/api.ts';
import { spread } from '../server/news.ts';
import { doubtServer } from '../server/useServerHealth.ts';
import { toolParts } from '../tools/toolParts.ts';

const answers = approvals({ fetch: fetchWithKey, pollMs: 0 });

/**
 * Answers a question of this chat.
 *
 * The SDK keeps an answer to itself until all questions of the step are answered. So an answer that
 * completes a step goes the SDK's own way, with the window that brings what comes of it; one of
 * several, and one that changes the input, goes to the server at once, where no reload can lose it.
 */
export function useAnswer(chat: UseChatHelpers<Message>, follow: () => Promise<void>) {
  const words = useWords();
  const latest = useRef({ chat, follow, words });
  latest.current = { chat, follow, words };

  const answer = useRef(
    async (approvalId: string, given: ApprovalAnswer): Promise<string | undefined> => {
      const { chat, follow, words } = latest.current;
      const last = chat.messages.at(-1);
      const open = last === undefined ? [] : toolParts(last).filter(isUnsettled);
      const isLast = open.length === 1 && open[0]?.state === 'approval-requested';
      if (isLast && given.input === undefined && chat.status === 'ready') {
        const { approved, reason } = given;
        void chat.addToolApprovalResponse({
          id: approvalId,
          approved,
          ...(reason !== undefined && { reason }),
        });
        return undefined;
      }
      const { isOurs, decision } = await answers.answer(approvalId, given).catch(error => {
        doubtServer();
        throw error;
      });
      spread(chat.id);
      await follow();
      return isOurs ? undefined : words.approval.elsewhere(decision.decidedBy ?? '?');
    },
  );
  return answer.current;
}

const isUnsettled = ({ state }: { state: string }) => !state.startsWith('output-');
