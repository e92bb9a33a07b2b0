import { ConsentButton } from '@adk-stream/client/react/parts';
import type { Interrupt } from '@copilotkit/react-core/v2';
import { useState } from 'react';

type Props = {
  interrupt: Interrupt;
  onAnswer: (payload: unknown, interruptId: string) => unknown;
};

/** A question with what it is about. The answer takes the digest along, and counts for nothing else. */
export function Approval({ interrupt, onAnswer }: Props) {
  const { id, message, metadata } = interrupt;
  const [isTooSoon, setIsTooSoon] = useState(false);
  const digest = String(metadata?.digest);
  const answer = (approved: boolean) => onAnswer({ approved, digest }, id);
  return (
    <fieldset data-consent="card">
      <legend data-consent="shown">{message}</legend>
      <pre data-consent="shown">{JSON.stringify(metadata?.input, null, 2)}</pre>
      <ConsentButton
        isReady
        shown={digest}
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
