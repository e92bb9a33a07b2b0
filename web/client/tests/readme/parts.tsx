import { durableChats } from '@adk-stream/client';
import { useApprovals } from '@adk-stream/client/react';
import {
  ApprovalCard,
  Inbox,
  PartsProvider,
  QuestionCard,
  useApprovalRecord,
} from '@adk-stream/client/react/parts';

const { approvals } = durableChats();

/** A question of a chat, by its id: shown, and answered, as the server has it. */
export function Question({ approvalId }: { approvalId: string }) {
  const [{ approval, decision }] = useApprovalRecord(approvalId, approvals.read);
  if (approval === undefined || decision !== undefined) return null;
  const Card = approval.schema === undefined ? ApprovalCard : QuestionCard;
  return (
    <Card
      approval={approval}
      onAnswer={answer => approvals.answer(approvalId, answer)}
      read={() => approvals.read(approvalId)}
    />
  );
}

/** Everything that waits for the person, in whichever chat. */
export function Waiting() {
  return (
    <PartsProvider classNames={{ card: 'card', approve: 'button primary' }}>
      <Inbox inbox={useApprovals()} />
    </PartsProvider>
  );
}
