import { type KeyboardEvent, type ReactElement, useId, useState } from 'react';
import type { ExactJson } from '../exact-json.ts';
import { untrustedPieces } from '../untrusted-text.ts';
import { ConsentButton } from './consent-button.ts';
import { editedInput, textForEditing } from './input-editing.ts';
import { useParts } from './parts-context.tsx';
import { ScrollBox } from './scroll-box.tsx';
import { FieldName, UntrustedText } from './untrusted-text.tsx';

type Props = {
  input: Extract<ExactJson, { kind: 'object' }>;
  isReady: boolean;
  shown: string;
  onApprove: (inputText: string) => void;
  onTooSoon: () => void;
  onBack: () => void;
};

/** The call's input, to be changed field by field before it is approved. */
export function InputEditor(props: Props): ReactElement {
  const { input, isReady, shown, onApprove, onTooSoon, onBack } = props;
  const { part, labels } = useParts();
  const words = labels.approval;
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
    <div role="group" aria-label={words.edit} {...part('editor')} onKeyDown={onKeyDown}>
      <ScrollBox name="edited-fields" label={words.fields} isConsentedTo>
        {input.entries.map(([name, value], index) => {
          const text = texts[index] ?? '';
          const field = {
            ...part('control'),
            id: `${id}-${index}`,
            value: text,
            dir: 'auto',
            autoComplete: 'off',
            'aria-invalid': bad === index,
            onChange: (event: { target: { value: string } }) => {
              setBad(undefined);
              setTexts(texts.map((it, at) => (at === index ? event.target.value : it)));
            },
          };
          // By what was there: a field that changes its kind while somebody types loses the focus.
          const before = textForEditing(value);
          const isLong = before.length > 60 || before.includes('\n');
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the fields stay what they are
            <div key={index} {...part('edited-field')}>
              <label htmlFor={field.id} {...part('edited-label')}>
                <FieldName name={name} />
              </label>
              <div {...part('control-box')}>
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
                {untrustedPieces(text).some(({ kind }) => kind !== 'plain') && (
                  <ScrollBox name="preview" label={words.whole}>
                    <UntrustedText text={text} />
                  </ScrollBox>
                )}
                {bad === index && (
                  <p role="alert" {...part('error')}>
                    {words.badField[value.kind]}
                  </p>
                )}
              </div>
            </div>
          );
        })}
      </ScrollBox>
      <div {...part('reason')}>
        <ConsentButton
          {...part('approve')}
          isReady={isReady}
          shown={`${shown} edited`}
          onConsent={approve}
          onTooSoon={onTooSoon}
        >
          {words.approveEdited}
        </ConsentButton>
        <button type="button" {...part('button')} onClick={onBack}>
          {words.back}
        </button>
      </div>
    </div>
  );
}
