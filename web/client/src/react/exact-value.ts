/** Inputs as the server wrote them, for people to read. */
import { type ExactJson, readExactJson } from '../exact-json.ts';
import { escapeUntrusted as escaped } from '../untrusted-text.ts';

/** What the SDK made of an input, where the server's own text is not there. */
export function exactOf(input: unknown): ExactJson {
  return readExactJson(JSON.stringify(input) ?? 'null');
}

/** The input of an approval; its text where there is one. */
export function exactInput(approval: { input: unknown; inputText?: string }): ExactJson {
  return approval.inputText === undefined
    ? exactOf(approval.input)
    : readExactJson(approval.inputText);
}

/** How a value is written, where nothing but its emptiness is to be seen of it. */
export function emptiness(value: ExactJson): string | undefined {
  switch (value.kind) {
    case 'string':
      return value.value === '' ? '""' : undefined;
    case 'null':
      return 'null';
    case 'object':
      return value.entries.length === 0 ? '{}' : undefined;
    case 'array':
      return value.items.length === 0 ? '[]' : undefined;
    default:
      return undefined;
  }
}

/** A value in a text: strings without quotes, the rest in lines of JSON. */
export function textOf(value: ExactJson): string {
  return value.kind === 'string' ? value.value : pretty(value);
}

/** JSON with a line for each value; what is not to be seen in its strings is escaped. */
export function pretty(value: ExactJson, indent = ''): string {
  const inner = `${indent}  `;
  switch (value.kind) {
    case 'object': {
      const lines = value.entries.map(
        ([name, it]) => `${inner}${escaped(JSON.stringify(name))}: ${pretty(it, inner)}`,
      );
      return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
    }
    case 'array': {
      const lines = value.items.map(it => inner + pretty(it, inner));
      return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n${indent}]`;
    }
    case 'string':
      return escaped(value.text);
    default:
      return value.text;
  }
}

/** How much it is, in a few letters. */
export function sizeOf(text: string): string {
  const bytes = new Blob([text]).size;
  return bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${Math.round(bytes / 1_000)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
