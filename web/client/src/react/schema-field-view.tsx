import { type ReactNode, useId } from 'react';
import { useParts } from './parts-context.tsx';
import type { FieldValues, SchemaField } from './schema-fields.ts';
import { FieldName, UntrustedText } from './untrusted-text.tsx';

type Props = {
  field: SchemaField;
  values: FieldValues;
  /** What is wrong, by path. */
  wrong: ReadonlyMap<string, string>;
  onChange: (path: string, value: string | boolean) => void;
};

/** One field of a form that is made from a schema, or a group of them. */
export function SchemaFieldView(props: Props): ReactNode {
  const { part } = useParts();
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
    <fieldset {...part('group')}>
      <legend {...part('legend')}>
        <FieldName name={field.title} />
      </legend>
      {field.description !== undefined && (
        <p {...part('about')}>
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
  const { part, labels } = useParts();
  const words = labels.question;
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
    ...part('control'),
    value: text,
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => onChange(path, event.target.value),
  };

  return (
    <div {...part('schema-field')}>
      <label htmlFor={id} {...part('schema-label')}>
        <FieldName name={title === '' ? words.answer : title} />
        {!isRequired && field.kind !== 'boolean' && ` (${words.optional})`}
      </label>
      <div {...part('control-box')}>
        {field.kind === 'boolean' ? (
          <input
            {...shared}
            type="checkbox"
            {...part('checkbox')}
            checked={value === true}
            onChange={event => onChange(path, event.target.checked)}
          />
        ) : field.kind === 'choice' ? (
          <select {...typed}>
            <option value="">{words.choose}</option>
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
          <p id={`${id}-about`} {...part('about')}>
            <UntrustedText text={description} />
          </p>
        )}
        {field.kind === 'json' && <p {...part('about')}>{words.asJson}</p>}
        {error !== undefined && (
          <p id={`${id}-wrong`} role="alert" {...part('error')}>
            {error}
          </p>
        )}
      </div>
    </div>
  );
}
