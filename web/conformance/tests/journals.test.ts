/**
 * The journals that the tests with the server have left: every prefix of each reads back to the same
 * chat, and continuing from it gives a stream that both clients accept.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/corpus.ts';
import { specimens } from '../src/specimens.ts';

type Judged = { file: string; chats: number; entries: number; faults: string[] };

test('every prefix of every journal goes on well', () => {
  const folder = join(projectRoot, 'target', 'journals');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.sqlite'))
    .map(name => join(folder, name));
  expect(files.length, 'journals left by the other tests').toBeGreaterThan(10);

  const judged = specimens<Judged>('journals', ...files);
  expect(judged.flatMap(({ faults }) => faults)).toEqual([]);
  const sum = (count: (file: Judged) => number) => judged.map(count).reduce((a, b) => a + b, 0);
  expect(sum(({ chats }) => chats)).toBeGreaterThan(300);
  expect(sum(({ entries }) => entries)).toBeGreaterThan(1000);
}, 120_000);
