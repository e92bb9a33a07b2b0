/** What outputs of tools say. The page knows their forms only roughly: they are the server's. */

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

/** An output in a line: its plain fields, without those that the input had already. */
export function inShort(output: unknown, input: unknown): string {
  if (!isRecord(output)) {
    return shown(output);
  }
  const isNews = ([name, value]: [string, unknown]) =>
    name !== 'success' &&
    value !== null &&
    value !== '' &&
    typeof value !== 'object' &&
    !(isRecord(input) && input[name] === value);
  const news = Object.entries(output).filter(isNews);
  return news.map(([name, value]) => `${label(name)} ${shown(value)}`).join(' · ');
}

/** A value as people read it. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** The name of a field as people read it. */
export function label(name: string): string {
  return name.replaceAll('_', ' ');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
