/** What outputs of tools say. The page knows their forms only roughly: they are the server's. */
import { ExactNumber } from '../server/exactNumber.ts';

/** Whether it only says that the real output comes later. */
export function isPending(output: unknown): boolean {
  return isRecord(output) && output.status === 'pending';
}

/** Why it failed, where the output itself says so. */
export function failure(output: unknown): string | undefined {
  if (!isRecord(output) || output.success !== false) {
    return undefined;
  }
  return typeof output.error === 'string' ? output.error : 'It did not succeed.';
}

/** The fields of an output that are worth a word: plain ones, that the input had not. */
export function newFields(output: unknown, input: unknown): [string, unknown][] {
  if (!isRecord(output)) {
    return [];
  }
  return Object.entries(output).filter(
    ([name, value]) =>
      name !== 'success' &&
      name !== 'timestamp' &&
      !(name === 'status' && value === 'pending') &&
      value !== null &&
      value !== '' &&
      isPlain(value) &&
      !(isRecord(input) && input[name] === value),
  );
}

/** A value as people read it. */
export function shown(value: unknown): string {
  if (value instanceof ExactNumber) {
    return value.text;
  }
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Whether a value is one word: no list, and nothing with fields. */
export function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value instanceof ExactNumber;
}

/** The name of a field as people read it; one that is not written as names are, as it is. */
export function label(name: string): string {
  return /^[a-z\d]+(?:_[a-z\d]+)*$/.test(name) ? name.replaceAll('_', ' ') : name;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}
