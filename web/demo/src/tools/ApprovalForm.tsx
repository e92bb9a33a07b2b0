import type { ApprovalAnswer, ExactJson } from '@adk-stream/client';
import { Check, Pencil, X } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useWords } from '../language/language.ts';
import { ConsentButton } from './ConsentButton.tsx';
import { Fields } from './Fields.tsx';
import { InputEditor } from './InputEditor.tsx';
import type { Delivery } from './useDelivery.ts';

interface Props {
  input: ExactJson;
  /** Whether what is asked is shown as the server has it. */
  isShown: boolean;
  /** Identifies what is shown. */
  shown: string;
  /** Whether another input may be put in its place. */
  isEditable: boolean;
  delivery: Delivery;
  onAnswer: (answer: ApprovalAnswer) => void;
}

/** Yes, no and why, or yes to something else. */
export function ApprovalForm(props: Props) {
  const { input, isShown, shown, isEditable, delivery, onAnswer } = props;
  const words = useWords();
  const [mode, setMode] = useState<'ask' | 'deny' | 'edit'>('ask');
  const [reason, setReason] = useState('');
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

  const deny = () => {
    const why = reason.trim();
    answer({ approved: false, ...(why !== '' && { reason: why }) });
  };

  const back = () => {
    setMode('ask');
    // After the button is there again.
    requestAnimationFrame(() => denyButton.current?.focus());
  };

  const onReasonKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      deny();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      back();
    }
  };

  return (
    <div className="form">
      {mode === 'edit' && fields !== undefined ? (
        <InputEditor
          {...consent}
          input={fields}
          onBack={back}
          onApprove={inputText => answer({ approved: true, inputText })}
        />
      ) : (
        <Fields input={input} />
      )}
      {mode === 'deny' && (
        <div className="flex flex-wrap gap-2">
          <input
            className="field min-w-0 flex-1 basis-52"
            aria-label={words.approval.reason}
            placeholder={words.approval.reason}
            value={reason}
            maxLength={500}
            autoComplete="off"
            // biome-ignore lint/a11y/noAutofocus: a denial may have a reason
            autoFocus
            onChange={event => setReason(event.target.value)}
            onKeyDown={onReasonKey}
          />
          <button type="button" className="button danger" aria-disabled={isBusy} onClick={deny}>
            {words.approval.denyNow}
          </button>
          <button type="button" className="button" onClick={back}>
            {words.approval.back}
          </button>
        </div>
      )}
      {mode === 'ask' && (
        <div className="flex flex-wrap items-center gap-2">
          <ConsentButton {...consent} onConsent={() => answer({ approved: true })}>
            <Check aria-hidden="true" />
            {words.approval.approve}
          </ConsentButton>
          <button
            type="button"
            className="button"
            data-deny
            ref={denyButton}
            aria-disabled={isBusy}
            onClick={() => !isBusy && setMode('deny')}
          >
            <X aria-hidden="true" />
            {words.approval.deny}
          </button>
          {isEditable && fields !== undefined && (
            <button
              type="button"
              className="button quiet"
              aria-disabled={!isReady}
              onClick={() => isReady && setMode('edit')}
            >
              <Pencil aria-hidden="true" />
              {words.approval.edit}
            </button>
          )}
        </div>
      )}
      <p
        className="text-sm text-soft empty:hidden"
        role="status"
        data-too-soon={isTooSoon && delivery.note === undefined}
      >
        {delivery.note ?? (isTooSoon ? words.approval.tooSoon : '')}
      </p>
    </div>
  );
}
