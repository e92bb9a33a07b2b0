import { isRecord, label, shown } from './output.ts';

interface Props {
  tool: string;
  input: unknown;
}

/** The call as the agent made it: the tool, and its input field by field. */
export function Fields({ tool, input }: Props) {
  const fields = isRecord(input) ? Object.entries(input) : [];
  return (
    <dl className="fields">
      <div>
        <dt>tool</dt>
        <dd>
          <code>{tool}</code>
        </dd>
      </div>
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{label(name)}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
