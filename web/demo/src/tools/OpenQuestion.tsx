import type { FieldError, QuestionAnswer, UserQuestion } from '@adk-stream/client';
import { useContext, useEffect, useState } from 'react';
import { announceOnce } from '../app/announcer.tsx';
import { Boundary } from '../app/Boundary.tsx';
import { useWords } from '../language/language.ts';
import { InfoContext } from '../server/info.ts';
import { askerOf } from './asker.ts';
import { QuestionCard } from './QuestionCard.tsx';
import { escaped } from './spoofing.ts';
import { UnshownApproval } from './UnshownApproval.tsx';
import { useApprovalRecord } from './useApprovalRecord.ts';
import { useDelivery } from './useDelivery.ts';
import { ClockContext } from './useTimeLeft.ts';

interface Props {
  asked: UserQuestion & { approvalId: string };
  askedAt: number | undefined;
  onAnswer: (approvalId: string, answer: QuestionAnswer) => Promise<string | undefined>;
  focusAfter: string;
}

/** A question of the chat that asks for data, as the server has it. */
export function OpenQuestion(props: Props) {
  const { asked, onAnswer } = props;
  return (
    <Boundary
      of={asked.approvalId}
      instead={() => (
        <UnshownApproval
          tool={asked.question}
          onDeny={() => onAnswer(asked.approvalId, { declined: true })}
        />
      )}
    >
      <ShownQuestion {...props} />
    </Boundary>
  );
}

function ShownQuestion({ asked, askedAt, onAnswer, focusAfter }: Props) {
  const words = useWords();
  const { agent } = useContext(InfoContext);
  // What is played again has happened, and asks nobody.
  const isLive = useContext(ClockContext) === undefined;
  const { approvalId } = asked;
  const [{ approval, decision, hasChanged }, setRecord] = useApprovalRecord(approvalId, isLive);
  const [errors, setErrors] = useState<readonly FieldError[]>([]);

  const { delivery, answer } = useDelivery<QuestionAnswer>({
    approvalId,
    onAnswer: given => onAnswer(approvalId, given),
    onInvalid: setErrors,
    onChanged: current =>
      current !== undefined && setRecord({ approval: current, hasChanged: true }),
    onDecided: decision => approval !== undefined && setRecord({ approval, decision }),
  });

  useEffect(() => {
    if (approval !== undefined && decision === undefined) {
      announceOnce(
        `${approvalId} ${approval.digest ?? ''}`,
        words.question.announced(escaped(approval.question)),
      );
    }
  }, [approval, approvalId, decision, words]);

  const digest = approval?.digest;
  return (
    <QuestionCard
      // An answer that was begun to something else is not carried over.
      key={hasChanged === true ? digest : 'first'}
      question={approval?.question ?? asked.question}
      schema={approval?.schema ?? asked.schema}
      isShown={approval !== undefined && decision === undefined}
      shown={JSON.stringify([approval?.question, approval?.schema, digest])}
      hasChanged={hasChanged === true}
      asker={askerOf(approval?.path ?? asked.path ?? [], agent)}
      askedAt={approval?.askedAt ?? askedAt}
      expiresAt={approval?.expiresAt ?? asked.expiresAt}
      errors={errors}
      delivery={delivery}
      focusAfter={focusAfter}
      onAnswer={given => void answer(digest === undefined ? given : { ...given, digest })}
    />
  );
}
