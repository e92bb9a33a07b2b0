import { type FormEvent, type KeyboardEvent, useId, useState } from 'react';
import { useWords } from '../language/language.ts';
import { isRecord, label, shown } from './output.ts';

interface Props {
  input: unknown;
  isBusy: boolean;
  onApprove: (input: unknown) => void;
  onBack: () => void;
}

/** The call's input, to be changed field by field before it is approved. */
export function InputEditor({ input, isBusy, onApprove, onBack }: Props) {
  const words = useWords();
  const id = useId();
  const fields = isRecord(input) ? Object.entries(input) : [];
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(fields.map(([name, value]) => [name, shown(value)])),
  );
  const [isBad, setIsBad] = useState(false);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const edited = fields.map(([name, value]) => [name, parsed(texts[name] ?? '', value)]);
      onApprove(Object.fromEntries(edited));
    } catch {
      setIsBad(true);
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      onBack();
    }
  };

  return (
    <form className="flex flex-col gap-3" onSubmit={submit} onKeyDown={onKeyDown}>
      {fields.map(([name, value], index) => (
        <div key={name} className="grid gap-1 sm:grid-cols-[7rem_1fr] sm:items-center">
          <label htmlFor={`${id}-${name}`} className="text-sm text-soft">
            {words.fields[name] ?? label(name)}
          </label>
          <input
            id={`${id}-${name}`}
            className="field"
            inputMode={typeof value === 'number' ? 'decimal' : 'text'}
            value={texts[name]}
            // biome-ignore lint/a11y/noAutofocus: whoever asked to edit wants to
            autoFocus={index === 0}
            autoComplete="off"
            onChange={event => {
              setIsBad(false);
              setTexts({ ...texts, [name]: event.target.value });
            }}
          />
        </div>
      ))}
      {isBad && (
        <p role="alert" className="text-sm text-seal">
          {words.approval.badInput}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button primary" disabled={isBusy}>
          {words.approval.approveEdited}
        </button>
        <button type="button" className="button" onClick={onBack}>
          {words.approval.back}
        </button>
      </div>
    </form>
  );
}

/** Text as a value of the kind that was there. */
function parsed(text: string, before: unknown): unknown {
  return typeof before === 'string' ? text : JSON.parse(text);
}
