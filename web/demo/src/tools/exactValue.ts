import { type ExactJson, readExactJson } from '@adk-stream/client';

/** What the SDK made of an input, where the server's own text is not there. */
export function exactOf(input: unknown): ExactJson {
  return readExactJson(JSON.stringify(input) ?? 'null');
}
