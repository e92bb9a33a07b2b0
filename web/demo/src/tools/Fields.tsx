import { useWords } from '../language/language.ts';
import { isRecord, label, shown } from './output.ts';

interface Props {
  input: unknown;
}

/** The input of a call, field by field, as on a form. */
export function Fields({ input }: Props) {
  const words = useWords();
  const fields = isRecord(input) ? Object.entries(input).filter(([, value]) => value !== '') : [];
  if (fields.length === 0) {
    return null;
  }
  return (
    <dl className="ledger">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{words.fields[name] ?? label(name)}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
