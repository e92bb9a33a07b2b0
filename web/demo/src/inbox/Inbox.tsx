import type { Approval, FieldError, QuestionAnswer } from '@adk-stream/client';
import type { UseApprovals } from '@adk-stream/client/react';
import { ArrowRight, Inbox as InboxIcon } from 'lucide-react';
import { createElement, useContext, useMemo, useState } from 'react';
import { Boundary } from '../app/Boundary.tsx';
import { LanguageContext, useWords } from '../language/language.ts';
import { timeOf } from '../language/time.ts';
import { broadcastChange } from '../server/changes.ts';
import { InfoContext } from '../server/info.ts';
import { ApprovalCard } from '../tools/ApprovalCard.tsx';
import { askerOf } from '../tools/asker.ts';
import { exactInput } from '../tools/exactValue.ts';
import { QuestionCard } from '../tools/QuestionCard.tsx';
import { UnshownApproval } from '../tools/UnshownApproval.tsx';
import { useDelivery } from '../tools/useDelivery.ts';

interface Props {
  inbox: UseApprovals;
  /** The chat that is open beside it. */
  chatId: string;
  onOpen: (chatId: string) => void;
}

/** The heading, which the focus goes to when what had it is gone. */
const HEADING = 'inbox-heading';

/** Everything that waits for this person, over all chats, to be answered here or where it was asked. */
export function Inbox({ inbox, chatId, onOpen }: Props) {
  const words = useWords();
  const [changed, setChanged] = useState<readonly string[]>([]);
  return (
    <div className="flex flex-col gap-4">
      <h2 id={HEADING} tabIndex={-1} className="font-display text-lg">
        {words.inbox.title}
      </h2>
      {inbox.error !== undefined && <p className="text-sm text-alert">{words.inbox.error}</p>}
      {inbox.isLoaded && inbox.approvals.length === 0 && (
        <p className="empty-note">
          <InboxIcon aria-hidden="true" />
          {words.inbox.empty}
        </p>
      )}
      {inbox.approvals.map(approval => (
        <Boundary
          key={approval.approvalId}
          of={approval}
          instead={() => (
            <UnshownApproval
              tool={approval.toolName}
              onDeny={async () => {
                await (approval.schema === undefined
                  ? inbox.deny(approval.approvalId)
                  : inbox.answer(approval.approvalId, { declined: true }));
                return undefined;
              }}
            />
          )}
        >
          {createElement(approval.schema === undefined ? Waiting : WaitingForData, {
            // Another question under the same number is another card.
            key: approval.digest,
            approval,
            inbox,
            isHere: approval.chatId === chatId,
            hasChanged: changed.includes(approval.approvalId),
            onChanged: () => setChanged(ids => [...ids, approval.approvalId]),
            onOpen,
          })}
        </Boundary>
      ))}
    </div>
  );
}

interface WaitingProps {
  approval: Approval;
  inbox: UseApprovals;
  isHere: boolean;
  hasChanged: boolean;
  onChanged: () => void;
  onOpen: (chatId: string) => void;
}

function Waiting({ approval, inbox, isHere, hasChanged, onChanged, onOpen }: WaitingProps) {
  const words = useWords();
  const { agent } = useContext(InfoContext);
  const { approvalId, digest } = approval;
  const input = useMemo(() => exactInput(approval), [approval]);

  const { delivery, answer } = useDelivery({
    approvalId,
    onAnswer: async ({ approved, ...rest }) => {
      const { isOurs, decision } = approved
        ? await inbox.approve(approvalId, rest)
        : await inbox.deny(approvalId, rest);
      broadcastChange(approval.chatId);
      return isOurs ? undefined : words.approval.elsewhere(decision.decidedBy ?? '?');
    },
    // The list is read again by itself, and shows what is asked now.
    onChanged,
    onDecided: () => void inbox.refresh(),
  });

  return (
    <ApprovalCard
      tool={approval.toolName}
      input={input}
      question={approval.question}
      isShown
      shown={JSON.stringify([approval.question, input.text, digest])}
      hasChanged={hasChanged}
      asker={askerOf(approval.path, agent)}
      askedAt={approval.askedAt}
      expiresAt={approval.expiresAt}
      isWithin={approval.within === true}
      isEditable={approval.editable !== false}
      delivery={delivery}
      focusAfter={HEADING}
      onAnswer={given => void answer(digest === undefined ? given : { ...given, digest })}
    >
      <Origin approval={approval} isHere={isHere} onOpen={onOpen} />
    </ApprovalCard>
  );
}

/** A question that asks for data. */
function WaitingForData({ approval, inbox, isHere, hasChanged, onChanged, onOpen }: WaitingProps) {
  const words = useWords();
  const { agent } = useContext(InfoContext);
  const { approvalId, digest, question, schema = {} } = approval;
  const [errors, setErrors] = useState<readonly FieldError[]>([]);

  const { delivery, answer } = useDelivery<QuestionAnswer>({
    approvalId,
    onAnswer: async given => {
      const { isOurs, decision } = await inbox.answer(approvalId, given);
      broadcastChange(approval.chatId);
      return isOurs ? undefined : words.approval.elsewhere(decision.decidedBy ?? '?');
    },
    onInvalid: setErrors,
    // The list is read again by itself, and shows what is asked now.
    onChanged,
    onDecided: () => void inbox.refresh(),
  });

  return (
    <QuestionCard
      question={question}
      schema={schema}
      isShown
      shown={JSON.stringify([question, schema, digest])}
      hasChanged={hasChanged}
      asker={askerOf(approval.path, agent)}
      askedAt={approval.askedAt}
      expiresAt={approval.expiresAt}
      errors={errors}
      delivery={delivery}
      focusAfter={HEADING}
      onAnswer={given => void answer(digest === undefined ? given : { ...given, digest })}
    >
      <Origin approval={approval} isHere={isHere} onOpen={onOpen} />
    </QuestionCard>
  );
}

/** When it was asked, and in which chat. */
function Origin({
  approval,
  isHere,
  onOpen,
}: Pick<WaitingProps, 'approval' | 'isHere' | 'onOpen'>) {
  const words = useWords();
  const language = useContext(LanguageContext);
  return (
    <p className="flex items-center justify-between gap-2 text-sm text-soft">
      {words.inbox.asked(timeOf(approval.askedAt, language))}
      {isHere ? (
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
  );
}
