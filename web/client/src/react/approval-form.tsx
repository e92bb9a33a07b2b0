import { type ReactElement, useRef, useState } from 'react';
import type { ApprovalAnswer } from '../approval.ts';
import type { ExactJson } from '../exact-json.ts';
import { ConsentButton } from './consent-button.ts';
import type { Delivery } from './delivery.ts';
import { InputEditor } from './input-editor.tsx';
import { InputFields } from './input-fields.tsx';
import { useParts } from './parts-context.tsx';
import { RefusalForm } from './refusal-form.tsx';

type Props = {
  input: ExactJson;
  /** Whether what is asked is shown as the server has it. */
  isShown: boolean;
  /** Identifies what is shown. */
  shown: string;
  /** Whether another input may be put in its place. */
  isEditable: boolean;
  delivery: Delivery;
  onAnswer: (answer: ApprovalAnswer) => void;
};

/** Yes, no and why, or yes to something else. */
export function ApprovalForm(props: Props): ReactElement {
  const { input, isShown, shown, isEditable, delivery, onAnswer } = props;
  const { part, labels, icons } = useParts();
  const words = labels.approval;
  const [mode, setMode] = useState<'ask' | 'deny' | 'edit'>('ask');
  const [isTooSoon, setIsTooSoon] = useState(false);
  const denyButton = useRef<HTMLButtonElement>(null);
  const isBusy = delivery.state !== 'open';
  const isReady = isShown && !isBusy;
  const fields = input.kind === 'object' && input.entries.length > 0 ? input : undefined;

  const answer = (given: ApprovalAnswer) => {
    setIsTooSoon(false);
    // Its button keeps the focus, and so stays enabled: a second press is ignored here.
    if (!isBusy) {
      onAnswer(given);
    }
  };

  const consent = { isReady, shown, onTooSoon: () => setIsTooSoon(isReady) };

  const back = () => {
    setMode('ask');
    // After the button is there again.
    requestAnimationFrame(() => denyButton.current?.focus());
  };

  return (
    <div {...part('form')}>
      {mode === 'edit' && fields !== undefined ? (
        <InputEditor
          {...consent}
          input={fields}
          onBack={back}
          onApprove={inputText => answer({ approved: true, inputText })}
        />
      ) : (
        <InputFields input={input} />
      )}
      {mode === 'deny' && (
        <RefusalForm
          labels={{ reason: words.reason, now: words.denyNow, back: words.back }}
          isBusy={isBusy}
          onRefuse={reason => answer({ approved: false, ...reason })}
          onBack={back}
        />
      )}
      {mode === 'ask' && (
        <div {...part('actions')}>
          <ConsentButton
            {...part('approve')}
            {...consent}
            onConsent={() => answer({ approved: true })}
          >
            {icons.approve}
            {words.approve}
          </ConsentButton>
          <button
            type="button"
            {...part('deny')}
            data-deny
            ref={denyButton}
            aria-disabled={isBusy}
            onClick={() => !isBusy && setMode('deny')}
          >
            {icons.deny}
            {words.deny}
          </button>
          {isEditable && fields !== undefined && (
            <button
              type="button"
              {...part('edit')}
              aria-disabled={!isReady}
              onClick={() => isReady && setMode('edit')}
            >
              {icons.edit}
              {words.edit}
            </button>
          )}
        </div>
      )}
      <Status delivery={delivery} isTooSoon={isTooSoon} />
    </div>
  );
}

/** What comes of an answer, or that a press was none. */
export function Status({ delivery, isTooSoon }: { delivery: Delivery; isTooSoon: boolean }) {
  const { part, labels } = useParts();
  return (
    <p {...part('status')} role="status" data-too-soon={isTooSoon && delivery.note === undefined}>
      {delivery.note ?? (isTooSoon ? labels.approval.tooSoon : '')}
    </p>
  );
}
