import { readExactJson } from '@adk-stream/client';
import { ConsentButton, InputFields, UntrustedText } from '@adk-stream/client/react/parts';
import { useState } from 'react';

type Props = {
  /** What the stream brings with a question in the profile v7. */
  descriptor: { question: string; digest: string };
  input: unknown;
  onAnswer: (approved: boolean) => unknown;
};

/** A question with what it is about. A press counts as a yes once both were in sight for a while. */
export function Question({ descriptor, input, onAnswer }: Props) {
  const { question, digest } = descriptor;
  const [isTooSoon, setIsTooSoon] = useState(false);
  return (
    <fieldset data-consent="card">
      <legend data-consent="shown">
        <UntrustedText text={question} />
        <span data-consent="end" />
      </legend>
      <InputFields input={readExactJson(JSON.stringify(input))} />
      <ConsentButton
        isReady
        shown={digest}
        onConsent={() => onAnswer(true)}
        onTooSoon={() => setIsTooSoon(true)}
      >
        Approve
      </ConsentButton>
      <button type="button" onClick={() => onAnswer(false)}>
        Deny
      </button>
      {isTooSoon && (
        <p role="status">That was too soon to be an answer. Read it, then press again.</p>
      )}
    </fieldset>
  );
}
