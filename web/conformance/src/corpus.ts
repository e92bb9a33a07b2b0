/** Finds and reads the corpus that this package shares with the Rust crates. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stream } from './stream.ts';

/** By its path: a test in a page's environment has the page's `URL`. */
export const projectRoot = join(dirname(fileURLToPath(import.meta.url)), '../../..');

export const corpusDirectory = join(projectRoot, 'crates', 'testkit', 'corpus');

export type Theme = { file: string; streams: Stream[] };

/** The themed files in the order of their names. */
export function loadCorpus(directory = corpusDirectory): Theme[] {
  return readdirSync(directory)
    .filter(file => file.endsWith('.json'))
    .sort()
    .map(file => ({
      file,
      streams: JSON.parse(readFileSync(join(directory, file), 'utf8')) as Stream[],
    }));
}
