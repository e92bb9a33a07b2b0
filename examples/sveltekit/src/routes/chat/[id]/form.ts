/** The fields of a small form for the JSON Schema of a question, also inside of objects. */
type Schema = {
  type?: string;
  title?: string;
  format?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
};

export type Field = {
  path: string[];
  label: string;
  kind: 'choice' | 'checkbox' | 'number' | 'date' | 'text';
  choices: string[];
};

export type Values = Record<string, unknown>;

export const keyOf = ({ path }: Field) => path.join('/');

export function fieldsOf(schema: Schema, path: string[] = []): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
    const at = [...path, name];
    return of.properties === undefined
      ? [{ path: at, label: of.title ?? name, kind: kindOf(of), choices: of.enum ?? [] }]
      : fieldsOf(of, at);
  });
}

function kindOf({ type, format, enum: choices }: Schema): Field['kind'] {
  if (choices !== undefined) {
    return 'choice';
  }
  if (type === 'boolean') {
    return 'checkbox';
  }
  if (type === 'integer' || type === 'number') {
    return 'number';
  }
  return format === 'date' ? 'date' : 'text';
}

/** What is filled in. The server checks it against the schema, and says what is wrong or missing. */
export function answerOf(fields: Field[], values: Values): Values {
  // Without a prototype, a field of any name is a field.
  const answer: Values = Object.create(null);
  for (const field of fields) {
    const value = values[keyOf(field)];
    if (value === undefined || value === null || value === '') {
      continue;
    }
    let at = answer;
    for (const name of field.path.slice(0, -1)) {
      at[name] ??= Object.create(null);
      at = at[name] as Values;
    }
    at[field.path.at(-1) ?? ''] = value;
  }
  return answer;
}
