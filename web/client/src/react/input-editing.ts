/** An input that a person changes: what they leave alone stays as it was, to the last digit. */
import { type ExactJson, readExactJson } from '../exact-json.ts';

type Fields = Extract<ExactJson, { kind: 'object' }>;

/** A value as it is edited: strings without quotes, the rest in JSON. */
export function textForEditing(value: ExactJson): string {
  return value.kind === 'string' ? value.value : value.text;
}

/** The edited input in JSON, or the index of the field whose text is no value of its kind. */
export function editedInput({ entries }: Fields, texts: readonly string[]): string | number {
  const edited: string[] = [];
  for (const [index, [name, value]] of entries.entries()) {
    const text = fieldText(value, texts[index] ?? '');
    if (text === undefined) {
      return index;
    }
    edited.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${edited.join(',')}}`;
}

function fieldText(before: ExactJson, text: string): string | undefined {
  if (text === textForEditing(before)) {
    return before.text;
  }
  if (before.kind === 'string') {
    return JSON.stringify(text);
  }
  try {
    const value = readExactJson(text);
    // Where nothing was, anything may be put.
    return value.kind === before.kind || before.kind === 'null' ? value.text : undefined;
  } catch {
    return undefined;
  }
}
