import type { ExactJson } from '@adk-stream/client';
import { type KeyboardEvent, useId, useState } from 'react';
import { ScrollBox } from '../app/ScrollBox.tsx';
import { useWords } from '../language/language.ts';
import { ConsentButton } from './ConsentButton.tsx';
import { END } from './consentPlaces.ts';
import { editedInput, textForEditing } from './editing.ts';
import { FieldName } from './FieldName.tsx';
import { piecesOf } from './spoofing.ts';
import { UntrustedText } from './UntrustedText.tsx';

interface Props {
  input: Extract<ExactJson, { kind: 'object' }>;
  isReady: boolean;
  shown: string;
  onApprove: (inputText: string) => void;
  onTooSoon: () => void;
  onBack: () => void;
}

/** The call's input, to be changed field by field before it is approved. */
export function InputEditor({ input, isReady, shown, onApprove, onTooSoon, onBack }: Props) {
  const words = useWords();
  const id = useId();
  const [texts, setTexts] = useState(() => input.entries.map(([, value]) => textForEditing(value)));
  const [bad, setBad] = useState<number>();

  const approve = () => {
    const edited = editedInput(input, texts);
    if (typeof edited === 'number') {
      setBad(edited);
    } else {
      onApprove(edited);
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      onBack();
    }
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a form would take Enter in a field for a yes
    <div
      role="group"
      aria-label={words.approval.edit}
      className="editor flex flex-col gap-3"
      onKeyDown={onKeyDown}
    >
      <ScrollBox className="edit-fields" label={words.approval.fields}>
        {input.entries.map(([name, value], index) => {
          const text = texts[index] ?? '';
          const field = {
            id: `${id}-${index}`,
            className: 'field w-full',
            value: text,
            dir: 'auto',
            autoComplete: 'off',
            'aria-invalid': bad === index,
            onChange: (event: { target: { value: string } }) => {
              setBad(undefined);
              setTexts(texts.with(index, event.target.value));
            },
          };
          // By what was there: a field that changes its kind while somebody types loses the focus.
          const before = textForEditing(value);
          const isLong = before.length > 60 || before.includes('\n');
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the fields stay what they are
            <div key={index} className="grid gap-1 sm:grid-cols-[7rem_1fr] sm:items-center">
              <label htmlFor={field.id} className="text-sm text-soft">
                <FieldName name={name} />
              </label>
              <div className="min-w-0">
                {isLong ? (
                  <textarea {...field} rows={3} />
                ) : (
                  <input
                    {...field}
                    inputMode={value.kind === 'number' ? 'decimal' : 'text'}
                    // biome-ignore lint/a11y/noAutofocus: the user asked to edit
                    autoFocus={index === 0}
                  />
                )}
                {piecesOf(text).some(({ kind }) => kind !== 'plain') && (
                  <ScrollBox className="long-value text-sm" label={words.approval.whole}>
                    <UntrustedText text={text} />
                  </ScrollBox>
                )}
                {bad === index && (
                  <p role="alert" className="text-sm text-alert">
                    {words.approval.badField[value.kind]}
                  </p>
                )}
              </div>
            </div>
          );
        })}
        <span className={END} />
      </ScrollBox>
      <div className="flex flex-wrap gap-2">
        <ConsentButton
          isReady={isReady}
          shown={`${shown} edited`}
          onConsent={approve}
          onTooSoon={onTooSoon}
        >
          {words.approval.approveEdited}
        </ConsentButton>
        <button type="button" className="button" onClick={onBack}>
          {words.approval.back}
        </button>
      </div>
    </div>
  );
}
