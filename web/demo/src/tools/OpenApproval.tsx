import type { ApprovalAnswer } from '@adk-stream/client';
import { useContext, useEffect, useMemo } from 'react';
import { announceOnce } from '../app/announcer.tsx';
import { Boundary } from '../app/Boundary.tsx';
import { useWords } from '../language/language.ts';
import { InfoContext } from '../server/info.ts';
import { ApprovalCard } from './ApprovalCard.tsx';
import { askerOf } from './asker.ts';
import { exactInput } from './exactValue.ts';
import { escaped } from './spoofing.ts';
import { UnshownApproval } from './UnshownApproval.tsx';
import { useApprovalRecord } from './useApprovalRecord.ts';
import { useDelivery } from './useDelivery.ts';
import { ClockContext } from './useTimeLeft.ts';

interface Props {
  approvalId: string;
  /** What the chat knows of it, until the server's record was read. */
  streamed: {
    tool: string;
    input: unknown;
    question: string | undefined;
    askedAt: number | undefined;
    expiresAt: number | undefined;
    isWithin: boolean;
    isEditable: boolean;
    path: readonly string[];
  };
  onAnswer: (approvalId: string, answer: ApprovalAnswer) => Promise<string | undefined>;
  focusAfter: string;
}

/** A question of the chat, as the server has it. */
export function OpenApproval(props: Props) {
  const { approvalId, streamed, onAnswer } = props;
  return (
    // One attempt for each approval: drawn again from what the journal says, the card would offer a yes until
    // the server's record is read and fails again.
    <Boundary
      of={approvalId}
      instead={() => (
        <UnshownApproval
          tool={streamed.tool}
          onDeny={() => onAnswer(approvalId, { approved: false })}
        />
      )}
    >
      <ShownApproval {...props} />
    </Boundary>
  );
}

function ShownApproval({ approvalId, streamed, onAnswer, focusAfter }: Props) {
  const words = useWords();
  const { agent } = useContext(InfoContext);
  // What is played again has happened, and asks nobody.
  const isLive = useContext(ClockContext) === undefined;
  const [{ approval, decision, hasChanged }, setRecord] = useApprovalRecord(approvalId, isLive);
  const { input: streamedInput } = streamed;
  const input = useMemo(
    () => exactInput(approval ?? { input: streamedInput }),
    [approval, streamedInput],
  );
  const question = approval?.question ?? streamed.question;

  const { delivery, answer } = useDelivery({
    approvalId,
    onAnswer: given => onAnswer(approvalId, given),
    onChanged: current =>
      current !== undefined && setRecord({ approval: current, hasChanged: true }),
    onDecided: decision => approval !== undefined && setRecord({ approval, decision }),
  });

  useEffect(() => {
    if (approval !== undefined && decision === undefined) {
      announceOnce(
        `${approvalId} ${approval.digest ?? ''}`,
        words.approval.announced(escaped(approval.question)),
      );
    }
  }, [approval, approvalId, decision, words]);

  const shown = JSON.stringify([question, input.text, approval?.digest]);
  return (
    <ApprovalCard
      // An answer that was begun to something else is not carried over.
      key={hasChanged === true ? shown : 'first'}
      tool={approval?.toolName ?? streamed.tool}
      input={input}
      question={question}
      isShown={approval !== undefined && decision === undefined}
      shown={shown}
      hasChanged={hasChanged === true}
      asker={askerOf(approval?.path ?? streamed.path, agent)}
      askedAt={approval?.askedAt ?? streamed.askedAt}
      expiresAt={approval?.expiresAt ?? streamed.expiresAt}
      isWithin={approval?.within ?? streamed.isWithin}
      isEditable={approval?.editable ?? streamed.isEditable}
      delivery={delivery}
      focusAfter={focusAfter}
      onAnswer={given =>
        void answer(approval?.digest === undefined ? given : { ...given, digest: approval.digest })
      }
    />
  );
}
