import type { FieldError, QuestionAnswer } from '@adk-stream/client';
import { Send, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { ScrollBox } from '../app/ScrollBox.tsx';
import { useWords } from '../language/language.ts';
import { ConsentButton } from './ConsentButton.tsx';
import { END } from './consentPlaces.ts';
import { SchemaFieldView } from './SchemaFieldView.tsx';
import { answerOf, fieldOf, leaves, presets } from './schemaFields.ts';
import type { Delivery } from './useDelivery.ts';

interface Props {
  schema: Record<string, unknown>;
  /** Whether what is asked is shown as the server has it. */
  isShown: boolean;
  /** Identifies what is shown. */
  shown: string;
  /** What the server says is wrong with the answer that was given last. */
  errors: readonly FieldError[];
  delivery: Delivery;
  onAnswer: (answer: QuestionAnswer) => void;
}

/** The data that is asked for, field by field, or a no and why. */
export function QuestionForm({ schema, isShown, shown, errors, delivery, onAnswer }: Props) {
  const words = useWords();
  const form = useRef<HTMLDivElement>(null);
  const declineButton = useRef<HTMLButtonElement>(null);
  const field = useMemo(() => fieldOf(schema), [schema]);
  const [values, setValues] = useState(() => presets(field));
  const [wrong, setWrong] = useState<ReadonlyMap<string, string>>(new Map());
  const [isDeclining, setIsDeclining] = useState(false);
  const [reason, setReason] = useState('');
  const [isTooSoon, setIsTooSoon] = useState(false);
  const isBusy = delivery.state !== 'open';
  const isReady = isShown && !isBusy;

  useEffect(() => setWrong(atFields(leaves(field), errors)), [errors, field]);

  // Who has just sent it is brought to the first field that is wrong; who types somewhere is left alone.
  useEffect(() => {
    const active = document.activeElement;
    if (wrong.size > 0 && active?.matches('button') && form.current?.contains(active)) {
      form.current.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [wrong]);

  const give = (given: QuestionAnswer) => {
    setIsTooSoon(false);
    // Its button keeps the focus, and so stays enabled: a second press is ignored here.
    if (!isBusy) {
      onAnswer(given);
    }
  };

  const send = () => {
    const read = answerOf(field, values);
    if ('answer' in read) {
      give({ answer: read.answer });
    } else {
      setWrong(new Map([...read.bad].map(([path, kind]) => [path, words.question.bad[kind]])));
    }
  };

  const decline = () => {
    const why = reason.trim();
    give({ declined: true, ...(why !== '' && { reason: why }) });
  };

  const back = () => {
    setIsDeclining(false);
    // After the button is there again.
    requestAnimationFrame(() => declineButton.current?.focus());
  };

  const onReasonKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      decline();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      back();
    }
  };

  const whole = wrong.get('#');
  return (
    <div className="form" ref={form}>
      {/* biome-ignore lint/a11y/useSemanticElements: a form would take Enter in a field for an answer */}
      <div role="group" aria-label={words.question.fields} className="editor flex flex-col gap-3">
        <ScrollBox className="edit-fields" label={words.question.fields}>
          <SchemaFieldView
            field={field}
            values={values}
            wrong={wrong}
            onChange={(path, value) => {
              setValues(before => ({ ...before, [path]: value }));
              setWrong(before => new Map([...before].filter(([at]) => at !== path)));
            }}
          />
          <span className={END} />
        </ScrollBox>
      </div>
      {whole !== undefined && (
        <p role="alert" className="text-sm text-alert wrap-anywhere">
          {whole}
        </p>
      )}
      {isDeclining ? (
        <div className="flex flex-wrap gap-2">
          <input
            className="field min-w-0 flex-1 basis-52"
            aria-label={words.question.reason}
            placeholder={words.question.reason}
            value={reason}
            maxLength={500}
            autoComplete="off"
            // biome-ignore lint/a11y/noAutofocus: a no may have a reason
            autoFocus
            onChange={event => setReason(event.target.value)}
            onKeyDown={onReasonKey}
          />
          <button type="button" className="button danger" aria-disabled={isBusy} onClick={decline}>
            {words.question.declineNow}
          </button>
          <button type="button" className="button" onClick={back}>
            {words.approval.back}
          </button>
        </div>
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <ConsentButton
            isReady={isReady}
            shown={shown}
            onConsent={send}
            onTooSoon={() => setIsTooSoon(isReady)}
          >
            <Send aria-hidden="true" />
            {words.question.send}
          </ConsentButton>
          <button
            type="button"
            className="button"
            data-deny
            ref={declineButton}
            aria-disabled={isBusy}
            onClick={() => !isBusy && setIsDeclining(true)}
          >
            <X aria-hidden="true" />
            {words.question.decline}
          </button>
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

/** Each error at its field, or at the one that holds it; what belongs to none of them is under `#`. */
function atFields(
  fields: readonly { path: string }[],
  errors: readonly FieldError[],
): ReadonlyMap<string, string> {
  const placed = new Map<string, string>();
  for (const { path, message } of errors) {
    const at = fields.find(it => it.path === path || path.startsWith(`${it.path}/`))?.path ?? '#';
    const text = at === path || path === '' ? message : `${path}: ${message}`;
    placed.set(at, placed.has(at) ? `${placed.get(at)} ${text}` : text);
  }
  return placed;
}
