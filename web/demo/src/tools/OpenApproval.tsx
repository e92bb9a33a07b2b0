import type { Answered, ApprovalAnswer } from '@adk-stream/client';
import { ApprovalCard, useApprovalRecord } from '@adk-stream/client/react/parts';
import { useContext, useEffect } from 'react';
import { announceOnce } from '../app/announcer.tsx';
import { Boundary } from '../app/Boundary.tsx';
import { useWords } from '../language/language.ts';
import { approvalStore } from '../server/approvals.ts';
import { InfoContext } from '../server/info.ts';
import { openBadge, ReadingHelp } from './CardParts.tsx';
import { ClockContext } from './clock.ts';
import { escaped } from './spoofing.ts';
import { UnshownApproval } from './UnshownApproval.tsx';

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
  onAnswer: (approvalId: string, answer: ApprovalAnswer) => Promise<Answered>;
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
  const now = useContext(ClockContext);
  // What is played again has happened, and asks nobody.
  const isLive = now === undefined;
  const [{ approval, decision, hasChanged = false }, setRecord] = useApprovalRecord(
    approvalId,
    isLive ? approvalStore.read : undefined,
  );

  useEffect(() => {
    if (approval !== undefined && decision === undefined) {
      announceOnce(
        `${approvalId} ${approval.digest ?? ''}`,
        words.approval.announced(escaped(approval.question)),
      );
    }
  }, [approval, approvalId, decision, words]);

  const { tool, isWithin, isEditable, ...asked } = streamed;
  const shown = approval ?? {
    ...asked,
    approvalId,
    toolName: tool,
    within: isWithin,
    editable: isEditable,
    path: [...streamed.path],
  };
  return (
    <ApprovalCard
      // An answer that was begun to something else is not carried over.
      key={hasChanged ? JSON.stringify([approval?.question, approval?.digest]) : 'first'}
      approval={shown}
      isShown={approval !== undefined && decision === undefined}
      hasChanged={hasChanged}
      agent={agent}
      now={now}
      focusAfter={focusAfter}
      aside={openBadge}
      help={<ReadingHelp approval={shown} />}
      onAnswer={given => onAnswer(approvalId, given)}
      read={() => approvalStore.read(approvalId)}
      onChanged={current =>
        current !== undefined && setRecord({ approval: current, hasChanged: true })
      }
      onDecided={decision => approval !== undefined && setRecord({ approval, decision })}
    />
  );
}
