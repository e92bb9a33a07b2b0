import { type ReactElement, type ReactNode, useState } from 'react';
import type { Approval, ApprovalAnswer, QuestionAnswer } from '../approval.ts';
import type { Answered } from '../approvals.ts';
import { ApprovalCard, type CardProps } from './approval-card.tsx';
import { Boundary } from './boundary.tsx';
import type { DeliveryOptions } from './delivery.ts';
import { useParts } from './parts-context.tsx';
import { QuestionCard } from './question-card.tsx';
import { UnshownCard } from './unshown-card.tsx';
import type { UseApprovals } from './use-approvals.ts';

export type InboxProps = Pick<CardProps, 'agent' | 'aside'> & {
  /** What `useApprovals` returns. */
  inbox: UseApprovals;
  /** Something was answered here. */
  onAnswered?: (approval: Approval) => void;
  help?: (approval: Approval) => ReactNode;
  /** Below each card: where it was asked, for example. */
  footer?: (approval: Approval) => ReactNode;
  /** Around each card. One that can't be drawn is replaced by one that can only be denied, with or without. */
  wrap?: (approval: Approval, card: ReactElement) => ReactElement;
};

/** The id of the heading, which the focus goes to when what had it is gone. */
const HEADING = 'inbox-heading';

/** Everything that waits for a person, over all chats, to be answered here. */
export function Inbox(props: InboxProps): ReactElement {
  const { inbox } = props;
  const { part, labels, icons } = useParts();

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
        <Item key={approval.approvalId} {...props} approval={approval} />
      ))}
    </div>
  );
}

type ItemProps = InboxProps & { approval: Approval };

/** One card, which takes nothing else with it where it can't be drawn. */
function Item(props: ItemProps): ReactElement {
  const { inbox, onAnswered, approval } = props;
  const { approvalId, toolName, schema } = approval;
  const [hasChanged, setChanged] = useState(false);
  const delivery = {
    onAnswer: async (given: ApprovalAnswer | QuestionAnswer): Promise<Answered> => {
      const answered = await inbox.answer(approvalId, given);
      onAnswered?.(approval);
      return answered;
    },
    read: () => inbox.read(approvalId),
    // The list is read again by itself, and shows what is asked now.
    onChanged: () => setChanged(true),
    onDecided: () => void inbox.refresh(),
  };
  const denial = schema === undefined ? { approved: false } : ({ declined: true } as const);
  return (
    <Boundary
      of={JSON.stringify([approvalId, approval.digest])}
      instead={<UnshownCard {...delivery} toolName={toolName} denial={denial} />}
    >
      <Shown {...props} {...delivery} hasChanged={hasChanged} />
    </Boundary>
  );
}

type ShownProps = ItemProps &
  DeliveryOptions<ApprovalAnswer | QuestionAnswer> & { hasChanged: boolean };

function Shown(props: ShownProps): ReactElement {
  const { inbox: _, onAnswered: __, footer, help, wrap, approval, ...shared } = props;
  const common = {
    ...shared,
    approval,
    focusAfter: HEADING,
    help: help?.(approval),
    children: footer?.(approval),
  };
  const { digest, schema } = approval;
  // Another question under the same number is another card.
  const card =
    schema === undefined ? (
      <ApprovalCard key={digest} {...common} />
    ) : (
      <QuestionCard key={digest} {...common} approval={{ ...approval, schema }} />
    );
  return wrap?.(approval, card) ?? card;
}
