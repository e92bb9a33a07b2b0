import type { Answered, QuestionAnswer, UserQuestion } from '@adk-stream/client';
import { QuestionCard, useApprovalRecord } from '@adk-stream/client/react/parts';
import { useContext, useEffect } from 'react';
import { announceOnce } from '../app/announcer.tsx';
import { Boundary } from '../app/Boundary.tsx';
import { useWords } from '../language/language.ts';
import { approvalStore } from '../server/approvals.ts';
import { InfoContext } from '../server/info.ts';
import { openBadge } from './CardParts.tsx';
import { ClockContext } from './clock.ts';
import { escaped } from './spoofing.ts';
import { UnshownApproval } from './UnshownApproval.tsx';

interface Props {
  asked: UserQuestion & { approvalId: string };
  askedAt: number | undefined;
  onAnswer: (approvalId: string, answer: QuestionAnswer) => Promise<Answered>;
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
  const now = useContext(ClockContext);
  // What is played again has happened, and asks nobody.
  const isLive = now === undefined;
  const { approvalId } = asked;
  const [{ approval, decision, hasChanged = false }, setRecord] = useApprovalRecord(
    approvalId,
    isLive ? approvalStore.read : undefined,
  );

  useEffect(() => {
    if (approval !== undefined && decision === undefined) {
      announceOnce(
        `${approvalId} ${approval.digest ?? ''}`,
        words.question.announced(escaped(approval.question)),
      );
    }
  }, [approval, approvalId, decision, words]);

  return (
    <QuestionCard
      // An answer that was begun to something else is not carried over.
      key={hasChanged ? approval?.digest : 'first'}
      approval={approval ?? { ...asked, askedAt }}
      isShown={approval !== undefined && decision === undefined}
      hasChanged={hasChanged}
      agent={agent}
      now={now}
      focusAfter={focusAfter}
      aside={openBadge}
      onAnswer={given => onAnswer(approvalId, given)}
      read={() => approvalStore.read(approvalId)}
      onChanged={current =>
        current !== undefined && setRecord({ approval: current, hasChanged: true })
      }
      onDecided={decision => approval !== undefined && setRecord({ approval, decision })}
    />
  );
}
