import { type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import type { QuestionAnswer } from '../approval.ts';
import type { FieldError } from '../question.ts';
import { Status } from './approval-form.tsx';
import { ConsentButton } from './consent-button.ts';
import type { Delivery } from './delivery.ts';
import { useParts } from './parts-context.tsx';
import { RefusalForm } from './refusal-form.tsx';
import { SchemaFieldView } from './schema-field-view.tsx';
import { answerOf, fieldOf, leaves, presets } from './schema-fields.ts';
import { ScrollBox } from './scroll-box.tsx';

export type QuestionFormProps = {
  /** The JSON Schema of what is asked for. */
  schema: Record<string, unknown>;
  /** Whether what is asked is shown as the server has it. */
  isShown?: boolean;
  /** Identifies what is shown. */
  shown: string;
  /** What the server says is wrong with the answer that was given last. */
  errors?: readonly FieldError[];
  delivery?: Delivery;
  onAnswer: (answer: QuestionAnswer) => void;
};

const none: readonly FieldError[] = [];
const open: Delivery = { state: 'open' };

/** The data that is asked for, field by field, or a no and why. Errors are at their fields. */
export function QuestionForm(props: QuestionFormProps): ReactElement {
  const { schema, isShown = true, shown, errors = none, delivery = open, onAnswer } = props;
  const { part, labels, icons } = useParts();
  const words = labels.question;
  const form = useRef<HTMLDivElement>(null);
  const declineButton = useRef<HTMLButtonElement>(null);
  const field = useMemo(() => fieldOf(schema), [schema]);
  const [values, setValues] = useState(() => presets(field));
  const [wrong, setWrong] = useState<ReadonlyMap<string, string>>(new Map());
  const [isDeclining, setIsDeclining] = useState(false);
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
      setWrong(new Map([...read.bad].map(([path, kind]) => [path, words.bad[kind]])));
    }
  };

  const back = () => {
    setIsDeclining(false);
    // After the button is there again.
    requestAnimationFrame(() => declineButton.current?.focus());
  };

  const whole = wrong.get('#');
  return (
    <div {...part('form')} ref={form}>
      {/* biome-ignore lint/a11y/useSemanticElements: a form would take Enter in a field for an answer */}
      <div role="group" aria-label={words.fields} {...part('editor')}>
        <ScrollBox name="edited-fields" label={words.fields} isConsentedTo>
          <SchemaFieldView
            field={field}
            values={values}
            wrong={wrong}
            onChange={(path, value) => {
              setValues(before => ({ ...before, [path]: value }));
              setWrong(before => new Map([...before].filter(([at]) => at !== path)));
            }}
          />
        </ScrollBox>
      </div>
      {whole !== undefined && (
        <p role="alert" {...part('error')}>
          {whole}
        </p>
      )}
      {isDeclining ? (
        <RefusalForm
          labels={{ reason: words.reason, now: words.declineNow, back: labels.approval.back }}
          isBusy={isBusy}
          onRefuse={reason => give({ declined: true, ...reason })}
          onBack={back}
        />
      ) : (
        <div {...part('actions')}>
          <ConsentButton
            {...part('approve')}
            isReady={isReady}
            shown={shown}
            onConsent={send}
            onTooSoon={() => setIsTooSoon(isReady)}
          >
            {icons.send}
            {words.send}
          </ConsentButton>
          <button
            type="button"
            {...part('deny')}
            data-deny
            ref={declineButton}
            aria-disabled={isBusy}
            onClick={() => !isBusy && setIsDeclining(true)}
          >
            {icons.decline}
            {words.decline}
          </button>
        </div>
      )}
      <Status delivery={delivery} isTooSoon={isTooSoon} />
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
