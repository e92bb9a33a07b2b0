import type { Answered, ApprovalAnswer, Approvals, QuestionAnswer } from '@adk-stream/client';
import { ApprovalCard, QuestionCard, useApprovalRecord } from '@adk-stream/client/react/parts';

type Props = {
  approvalId: string;
  approvals: Approvals;
  onAnswer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
};

/** A question for a yes or for data, as the server has it: its yes is bound to what was shown. */
export function Question({ approvalId, approvals, onAnswer }: Props) {
  const [{ approval, decision }, setRecord] = useApprovalRecord(approvalId, approvals.read);
  if (approval === undefined || decision !== undefined) {
    return null;
  }
  const Card = approval.schema === undefined ? ApprovalCard : QuestionCard;
  return (
    <Card
      key={approval.digest}
      approval={approval}
      onAnswer={answer => onAnswer(approvalId, answer)}
      read={() => approvals.read(approvalId)}
      onChanged={current => current && setRecord({ approval: current })}
      onDecided={decision => setRecord({ approval, decision })}
    />
  );
}
