import type { ApprovalAnswer } from '@adk-stream/client';
import { Check, Pencil, X } from 'lucide-react';
import { type KeyboardEvent, type MouseEvent, useRef, useState } from 'react';
import { useWords } from '../language/language.ts';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { Fields } from './Fields.tsx';
import { InputEditor } from './InputEditor.tsx';
import { isRecord } from './output.ts';

interface Props {
  input: unknown;
  /** Whether another input may be put in its place. */
  isEditable: boolean;
  /** Resolves with something to say, where there is, or throws. */
  onAnswer: (answer: ApprovalAnswer) => Promise<string | undefined>;
}

/** Yes, no and why, or yes to something else. */
export function ApprovalForm({ input, isEditable, onAnswer }: Props) {
  const words = useWords();
  const [mode, setMode] = useState<'ask' | 'deny' | 'edit'>('ask');
  const [reason, setReason] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [note, setNote] = useState<string>();
  const denyButton = useRef<HTMLButtonElement>(null);
  const canEdit = isEditable && isRecord(input) && Object.keys(input).length > 0;

  const answer = async (given: ApprovalAnswer) => {
    setIsBusy(true);
    setNote(undefined);
    try {
      setNote(await onAnswer(given));
    } catch (error) {
      setNote(problemWords(problemOf(error), words.problem));
    }
    setIsBusy(false);
  };

  const approve = (event: MouseEvent) => {
    // The second half of a double click may hit the next question, which nobody has read yet.
    if (event.detail < 2) {
      void answer({ approved: true });
    }
  };

  const deny = () => {
    const why = reason.trim();
    void answer({ approved: false, ...(why !== '' && { reason: why }) });
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
    <div className="flex flex-col gap-3.5">
      {mode !== 'edit' && <Fields input={input} />}
      {mode === 'edit' && (
        <InputEditor
          input={input}
          isBusy={isBusy}
          onBack={back}
          onApprove={edited => void answer({ approved: true, input: edited })}
        />
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
            // biome-ignore lint/a11y/noAutofocus: whoever says no may say why
            autoFocus
            onChange={event => setReason(event.target.value)}
            onKeyDown={onReasonKey}
          />
          <button type="button" className="button danger" disabled={isBusy} onClick={deny}>
            {words.approval.denyNow}
          </button>
          <button type="button" className="button" onClick={back}>
            {words.approval.back}
          </button>
        </div>
      )}
      {mode === 'ask' && (
        <div className="flex flex-wrap items-center gap-2">
          <button
            type="button"
            className="button primary"
            data-approve
            disabled={isBusy}
            onClick={approve}
          >
            <Check aria-hidden="true" />
            {words.approval.approve}
          </button>
          <button
            type="button"
            className="button"
            data-deny
            ref={denyButton}
            disabled={isBusy}
            onClick={() => setMode('deny')}
          >
            <X aria-hidden="true" />
            {words.approval.deny}
          </button>
          {canEdit && (
            <button
              type="button"
              className="button quiet"
              disabled={isBusy}
              onClick={() => setMode('edit')}
            >
              <Pencil aria-hidden="true" />
              {words.approval.edit}
            </button>
          )}
          <span className="ml-auto hidden text-xs text-soft @md:inline pointer-coarse:hidden">
            {words.approval.keys}
          </span>
        </div>
      )}
      <p className="text-sm text-soft empty:hidden" role="status">
        {isBusy ? words.approval.sending : note}
      </p>
    </div>
  );
}
