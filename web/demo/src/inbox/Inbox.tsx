import type { Approval, ApprovalAnswer } from '@adk-stream/client';
import type { UseApprovals } from '@adk-stream/client/react';
import { ArrowRight, Inbox as InboxIcon } from 'lucide-react';
import { useContext } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import { timeOf } from '../language/time.ts';
import { InfoContext } from '../server/info.ts';
import { spread } from '../server/news.ts';
import { Slip } from '../tools/Slip.tsx';

interface Props {
  inbox: UseApprovals;
  /** The chat that is open beside it. */
  chatId: string;
  onOpen: (chatId: string) => void;
}

/** Everything that waits for this person, over all chats, to be answered here or where it was asked. */
export function Inbox({ inbox, chatId, onOpen }: Props) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const { agent } = useContext(InfoContext);

  const answer = async (
    { approvalId, chatId }: Approval,
    { approved, reason, input }: ApprovalAnswer,
  ) => {
    const why = reason === undefined ? {} : { reason };
    const { isOurs, decision } = approved
      ? await inbox.approve(approvalId, { ...why, ...(input !== undefined && { input }) })
      : await inbox.deny(approvalId, why);
    spread(chatId);
    return isOurs ? undefined : words.approval.elsewhere(decision.decidedBy ?? '?');
  };

  return (
    <div className="flex flex-col gap-4">
      <h2 className="font-display text-lg">{words.inbox.title}</h2>
      {inbox.error !== undefined && <p className="text-sm text-seal">{words.inbox.error}</p>}
      {inbox.isLoaded && inbox.approvals.length === 0 && (
        <p className="empty-note">
          <InboxIcon aria-hidden="true" />
          {words.inbox.empty}
        </p>
      )}
      {inbox.approvals.map(approval => (
        <Slip
          key={approval.approvalId}
          tool={approval.toolName}
          input={approval.input}
          question={approval.question}
          asker={agent}
          askedAt={approval.askedAt}
          expiresAt={approval.expiresAt}
          isWithin={false}
          isEditable={approval.editable !== false}
          onAnswer={given => answer(approval, given)}
        >
          <p className="flex items-center justify-between gap-2 text-sm text-soft">
            {words.inbox.asked(timeOf(approval.askedAt, language))}
            {approval.chatId === chatId ? (
              <span>{words.inbox.here}</span>
            ) : (
              <button
                type="button"
                className="button quiet small"
                onClick={() => onOpen(approval.chatId)}
              >
                {words.inbox.open}
                <ArrowRight aria-hidden="true" />
              </button>
            )}
          </p>
        </Slip>
      ))}
    </div>
  );
}
