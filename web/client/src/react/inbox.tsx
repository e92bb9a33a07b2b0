import { type ReactElement, type ReactNode, useState } from 'react';
import type { Approval, ApprovalAnswer, QuestionAnswer } from '../approval.ts';
import type { Answered } from '../approvals.ts';
import { ApprovalCard, type CardProps } from './approval-card.tsx';
import { useParts } from './parts-context.tsx';
import { QuestionCard } from './question-card.tsx';
import type { UseApprovals } from './use-approvals.ts';

export type InboxProps = Pick<CardProps, 'agent' | 'aside'> & {
  /** What `useApprovals` returns. */
  inbox: UseApprovals;
  /** Something was answered here. */
  onAnswered?: (approval: Approval) => void;
  help?: (approval: Approval) => ReactNode;
  /** Below each card: where it was asked, for example. */
  footer?: (approval: Approval) => ReactNode;
  /** Around each card: an error boundary, for example. */
  wrap?: (approval: Approval, card: ReactElement) => ReactElement;
};

/** The id of the heading, which the focus goes to when what had it is gone. */
const HEADING = 'inbox-heading';

/** Everything that waits for a person, over all chats, to be answered here. */
export function Inbox(props: InboxProps): ReactElement {
  const { inbox, onAnswered, footer, help, wrap = (_, card) => card, ...shared } = props;
  const { part, labels, icons } = useParts();
  const [changed, setChanged] = useState<readonly string[]>([]);

  const cardOf = (approval: Approval) => {
    const { approvalId, digest } = approval;
    const onAnswer = async (given: ApprovalAnswer | QuestionAnswer): Promise<Answered> => {
      const answered = await inbox.answer(approvalId, given);
      onAnswered?.(approval);
      return answered;
    };
    const common = {
      ...shared,
      approval,
      onAnswer,
      hasChanged: changed.includes(approvalId),
      read: () => inbox.read(approvalId),
      // The list is read again by itself, and shows what is asked now.
      onChanged: () => setChanged(ids => [...ids, approvalId]),
      onDecided: () => void inbox.refresh(),
      focusAfter: HEADING,
      help: help?.(approval),
      children: footer?.(approval),
    };
    // Another question under the same number is another card.
    return approval.schema === undefined ? (
      <ApprovalCard key={digest} {...common} />
    ) : (
      <QuestionCard key={digest} {...common} approval={{ ...approval, schema: approval.schema }} />
    );
  };

  return (
    <div {...part('inbox')}>
      <h2 id={HEADING} tabIndex={-1} {...part('inbox-title')}>
        {labels.inbox.title}
      </h2>
      {inbox.error !== undefined && <p {...part('inbox-error')}>{labels.inbox.error}</p>}
      {inbox.isLoaded && inbox.approvals.length === 0 && (
        <p {...part('inbox-empty')}>
          {icons.empty}
          {labels.inbox.empty}
        </p>
      )}
      {inbox.approvals.map(approval => (
        <Item key={approval.approvalId}>{wrap(approval, cardOf(approval))}</Item>
      ))}
    </div>
  );
}

const Item = ({ children }: { children: ReactNode }) => children;
