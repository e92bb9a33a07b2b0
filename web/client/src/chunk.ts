/** A chunk as it comes over the wire: what its type promises is read with care. */
export type Chunk = { readonly type: string; readonly [field: string]: unknown };

export function isChunk(value: unknown): value is Chunk {
  return isRecord(value) && typeof value.type === 'string';
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a text says in JSON, or nothing where it is none. */
export function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A field that has to be a string, or nothing of use. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
