import { useId } from 'react';
import { useWords } from '../language/language.ts';
import { FieldName } from './FieldName.tsx';
import type { FieldValues, SchemaField } from './schemaFields.ts';
import { UntrustedText } from './UntrustedText.tsx';

interface Props {
  field: SchemaField;
  values: FieldValues;
  /** What is wrong, by path. */
  wrong: ReadonlyMap<string, string>;
  onChange: (path: string, value: string | boolean) => void;
}

/** One field of a form that is made from a schema, or a group of them. */
export function SchemaFieldView(props: Props) {
  const { field } = props;
  if (field.kind !== 'group') {
    return <Leaf {...props} field={field} />;
  }
  const fields = field.fields.map(inner => (
    <SchemaFieldView {...props} key={inner.path} field={inner} />
  ));
  return field.path === '' ? (
    fields
  ) : (
    <fieldset className="grid gap-3 border-l-2 border-line pl-3">
      <legend className="pb-1 text-sm font-medium">
        <FieldName name={field.title} />
      </legend>
      {field.description !== undefined && (
        <p className="text-sm text-soft">
          <UntrustedText text={field.description} />
        </p>
      )}
      {fields}
    </fieldset>
  );
}

/** The type of an input, by the format that the schema gives a text. */
const types: Readonly<Record<string, string>> = { date: 'date', email: 'email' };

function Leaf({
  field,
  values,
  wrong,
  onChange,
}: Props & { field: Exclude<SchemaField, { kind: 'group' }> }) {
  const words = useWords();
  const id = useId();
  const { path, title, description, isRequired } = field;
  const error = wrong.get(path);
  const value = values[path];
  const text = typeof value === 'string' ? value : '';
  const describedBy = [
    ...(description === undefined ? [] : [`${id}-about`]),
    ...(error === undefined ? [] : [`${id}-wrong`]),
  ].join(' ');
  const shared = {
    id,
    'aria-invalid': error !== undefined,
    'aria-required': isRequired,
    ...(describedBy !== '' && { 'aria-describedby': describedBy }),
  };
  const typed = {
    ...shared,
    className: 'field w-full',
    value: text,
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => onChange(path, event.target.value),
  };

  return (
    <div className="grid gap-1 sm:grid-cols-[7rem_1fr] sm:items-start">
      <label htmlFor={id} className="text-sm text-soft sm:pt-2">
        <FieldName name={title === '' ? words.question.answer : title} />
        {!isRequired && field.kind !== 'boolean' && ` (${words.question.optional})`}
      </label>
      <div className="min-w-0">
        {field.kind === 'boolean' ? (
          <input
            {...shared}
            type="checkbox"
            className="my-2.5 size-5 accent-current"
            checked={value === true}
            onChange={event => onChange(path, event.target.checked)}
          />
        ) : field.kind === 'choice' ? (
          <select {...typed}>
            <option value="">{words.question.choose}</option>
            {field.options.map(({ label }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the options stay what they are
              <option key={index} value={index}>
                {label}
              </option>
            ))}
          </select>
        ) : field.kind === 'json' || (field.kind === 'text' && field.isLong) ? (
          <textarea {...typed} dir="auto" rows={field.kind === 'json' ? 4 : 2} />
        ) : field.kind === 'text' ? (
          <input {...typed} dir="auto" type={types[field.format ?? ''] ?? 'text'} />
        ) : (
          <input {...typed} inputMode={field.kind === 'integer' ? 'numeric' : 'decimal'} />
        )}
        {description !== undefined && (
          <p id={`${id}-about`} className="text-sm text-soft">
            <UntrustedText text={description} />
          </p>
        )}
        {field.kind === 'json' && <p className="text-sm text-soft">{words.question.asJson}</p>}
        {error !== undefined && (
          <p id={`${id}-wrong`} role="alert" className="text-sm text-alert wrap-anywhere">
            {error}
          </p>
        )}
      </div>
    </div>
  );
}
