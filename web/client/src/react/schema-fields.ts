/** A form made from a JSON Schema: its fields, and the answer that their values make. */
import { isRecord } from '../chunk.ts';

export type SchemaField = {
  /** Where its value is in the answer, as a JSON pointer; empty for the answer itself. */
  path: string;
  name: string;
  title: string;
  description?: string;
  isRequired: boolean;
} & (
  | { kind: 'text'; format?: string; isLong: boolean; preset?: string }
  | { kind: 'number' | 'integer'; preset?: string }
  | { kind: 'boolean'; preset?: boolean }
  | { kind: 'choice'; options: { value: unknown; label: string }[]; preset?: string }
  | { kind: 'group'; fields: SchemaField[] }
  /** What the form has no field for. */
  | { kind: 'json'; preset?: string }
);

/** What is in the fields, by their paths: texts, the number of a choice as text, or whether it is ticked. */
export type FieldValues = Readonly<Record<string, string | boolean>>;

/** Why a value is none of its field's kind. */
export type BadField = 'number' | 'integer' | 'json';

/** Groups inside of groups deeper than this are written as JSON. */
const MAX_DEPTH = 3;

/** References that lead on to others. */
const MAX_REFERENCES = 8;

type Schema = Record<string, unknown>;

export function fieldOf(schema: Schema): SchemaField {
  return made(schema, { root: schema, path: '', name: '', isRequired: true, depth: 0 });
}

/** All fields that hold a value, in the order of the form. */
export function leaves(field: SchemaField): SchemaField[] {
  return field.kind === 'group' ? field.fields.flatMap(leaves) : [field];
}

/** What the fields hold at first. */
export function presets(field: SchemaField): FieldValues {
  return Object.fromEntries(
    leaves(field).flatMap(leaf =>
      'preset' in leaf && leaf.preset !== undefined ? [[leaf.path, leaf.preset]] : [],
    ),
  );
}

/** The answer, or what is wrong with values that make none, by their paths. */
export function answerOf(
  field: SchemaField,
  values: FieldValues,
): { answer: unknown } | { bad: Map<string, BadField> } {
  const bad = new Map<string, BadField>();
  const answer = readField(field, values, bad);
  // A group is an object also where nothing is in it; what else is empty is none.
  return bad.size > 0 ? { bad } : { answer: answer ?? (field.kind === 'group' ? {} : null) };
}

function readField(field: SchemaField, values: FieldValues, bad: Map<string, BadField>): unknown {
  const value = values[field.path];
  const text = typeof value === 'string' ? value : '';
  switch (field.kind) {
    case 'group': {
      const entries = field.fields
        .map(inner => [inner.name, readField(inner, values, bad)] as const)
        .filter(([, inner]) => inner !== undefined);
      // One that may be left out is, where nothing was written in it.
      const isLeftOut = !field.isRequired && field.fields.every(inner => isEmpty(inner, values));
      return isLeftOut ? undefined : Object.fromEntries(entries);
    }
    case 'boolean':
      return value === true;
    case 'choice':
      return text === '' ? undefined : field.options[Number(text)]?.value;
    case 'number':
    case 'integer':
      return text.trim() === '' ? undefined : numberOf(field, text.trim(), bad);
    case 'json':
      return text.trim() === '' ? undefined : jsonOf(field.path, text, bad);
    case 'text':
      return text === '' ? undefined : text;
  }
}

function isEmpty(field: SchemaField, values: FieldValues): boolean {
  const value = values[field.path];
  return field.kind === 'group'
    ? field.fields.every(inner => isEmpty(inner, values))
    : value === undefined || value === '' || value === false;
}

function numberOf(
  { path, kind }: { path: string; kind: 'number' | 'integer' },
  text: string,
  bad: Map<string, BadField>,
): number | undefined {
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  const isOne = kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isOne) {
    bad.set(path, kind);
    return undefined;
  }
  return value;
}

function jsonOf(path: string, text: string, bad: Map<string, BadField>): unknown {
  try {
    return JSON.parse(text);
  } catch {
    bad.set(path, 'json');
    return undefined;
  }
}

interface Place {
  root: Schema;
  path: string;
  name: string;
  isRequired: boolean;
  depth: number;
}

function made(declared: unknown, place: Place): SchemaField {
  const { path, name, isRequired, depth } = place;
  const { schema, isNullable } = resolved(declared, place.root);
  const title = typeof schema.title === 'string' ? schema.title : name;
  const { description } = schema;
  const base = {
    path,
    name,
    title,
    ...(typeof description === 'string' && { description }),
    isRequired: isRequired && !isNullable,
  };
  const preset = schema.default;
  const options = optionsOf(schema);
  if (options !== undefined) {
    const index = options.findIndex(({ value }) => value === preset);
    return { ...base, kind: 'choice', options, ...(index >= 0 && { preset: String(index) }) };
  }
  switch (schema.type) {
    case 'string': {
      const isLong = typeof schema.maxLength === 'number' && schema.maxLength > 120;
      const format = typeof schema.format === 'string' ? { format: schema.format } : {};
      const given = typeof preset === 'string' ? { preset } : {};
      return { ...base, kind: 'text', isLong, ...format, ...given };
    }
    case 'number':
    case 'integer': {
      const given = typeof preset === 'number' ? { preset: String(preset) } : {};
      return { ...base, kind: schema.type, ...given };
    }
    case 'boolean':
      return { ...base, kind: 'boolean', ...(preset === true && { preset }) };
    case 'object': {
      const { properties, required } = schema;
      if (isRecord(properties) && depth < MAX_DEPTH && Object.keys(properties).length > 0) {
        const needed: unknown[] = Array.isArray(required) ? required : [];
        const fields = Object.entries(properties).map(([key, inner]) =>
          made(inner, {
            root: place.root,
            path: `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
            name: key,
            isRequired: needed.includes(key),
            depth: depth + 1,
          }),
        );
        return { ...base, kind: 'group', fields };
      }
    }
  }
  const given = preset === undefined ? {} : { preset: JSON.stringify(preset, null, 2) };
  return { ...base, kind: 'json', ...given };
}

/** The schema itself: without references, and without the null of one that may be left out. */
function resolved(declared: unknown, root: Schema): { schema: Schema; isNullable: boolean } {
  let schema: Schema = isRecord(declared) ? declared : {};
  let isNullable = false;
  for (let n = 0; n < MAX_REFERENCES; n++) {
    const { $ref: reference, anyOf, type, ...rest } = schema;
    const others = Array.isArray(anyOf) ? anyOf.filter(it => !isNull(it)) : [];
    if (typeof reference === 'string' && reference.startsWith('#/')) {
      schema = { ...pointed(root, reference), ...rest };
    } else if (Array.isArray(anyOf) && others.length === 1 && others.length < anyOf.length) {
      isNullable = true;
      schema = { ...(isRecord(others[0]) ? others[0] : {}), ...rest };
    } else if (Array.isArray(type) && type.length === 2 && type.includes('null')) {
      isNullable = true;
      schema = { ...schema, type: type.find(it => it !== 'null') };
    } else {
      break;
    }
  }
  return { schema, isNullable };
}

const isNull = (schema: unknown) => isRecord(schema) && schema.type === 'null';

function pointed(root: Schema, reference: string): Schema {
  let found: unknown = root;
  for (const key of reference.slice(2).split('/')) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isRecord(found) ? found : {};
}

/** What can be chosen, where a schema lists it. */
function optionsOf(schema: Schema): { value: unknown; label: string }[] | undefined {
  const { enum: listed, enumNames, oneOf, const: only } = schema;
  const named = (value: unknown, label: unknown) => ({
    value,
    label: typeof label === 'string' ? label : typeof value === 'string' ? value : String(value),
  });
  const isPlain = (value: unknown) => typeof value !== 'object';
  if (Array.isArray(listed) && listed.every(value => isPlain(value) || value === null)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return listed.filter(isPlain).map((value, n) => named(value, names[n]));
  }
  if (Array.isArray(oneOf) && oneOf.every(it => isRecord(it) && isPlain(it.const ?? {}))) {
    return oneOf.map((it: Schema) => named(it.const, it.title));
  }
  return only !== undefined && isPlain(only) ? [named(only, undefined)] : undefined;
}
