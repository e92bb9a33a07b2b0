import { approvals, readExactJson } from '@adk-stream/client';
import {
  ConsentButton,
  InputFields,
  UntrustedText,
  useApprovalRecord,
} from '@adk-stream/client/react/parts';
import type { Interrupt } from '@copilotkit/react-core/v2';
import { useState } from 'react';

type Props = {
  interrupt: Interrupt;
  onAnswer: (payload: unknown, interruptId: string) => unknown;
};

const { read } = approvals();

/**
 * A question with what it is about, to the last digit, as the server has it. The answer takes the digest
 * along, and counts for nothing else.
 */
export function Approval({ interrupt, onAnswer }: Props) {
  const [{ approval }] = useApprovalRecord(interrupt.id, read);
  const [isTooSoon, setIsTooSoon] = useState(false);
  if (approval === undefined) {
    return null;
  }
  const { approvalId, digest, question, inputText = '{}' } = approval;
  const answer = (approved: boolean) => onAnswer({ approved, digest }, approvalId);
  return (
    <fieldset data-consent="card">
      <legend data-consent="shown">
        <UntrustedText text={question} />
        <span data-consent="end" />
      </legend>
      <InputFields input={readExactJson(inputText)} />
      <ConsentButton
        isReady
        shown={digest ?? approvalId}
        onConsent={() => answer(true)}
        onTooSoon={() => setIsTooSoon(true)}
      >
        Approve
      </ConsentButton>
      <button type="button" onClick={() => answer(false)}>
        Deny
      </button>
      {isTooSoon && (
        <p role="status">That was too soon to be an answer. Read it, then press again.</p>
      )}
    </fieldset>
  );
}
