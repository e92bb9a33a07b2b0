/** Each stream of the corpus gets, from each real client, the verdict beside it. */
import { describe, expect, test } from 'vitest';
import { drive } from '../src/client.ts';
import { loadCorpus } from '../src/corpus.ts';
import { majors } from '../src/sdk.ts';
import { expectedVerdict } from '../src/stream.ts';

const corpus = loadCorpus();
const streams = corpus.flatMap(theme => theme.streams);

for (const { file, streams } of corpus) {
  describe(file, () => {
    for (const stream of streams) {
      test.each(majors)(`${stream.name}, on version %s`, async major => {
        const { verdict } = await drive(stream, major);
        expect(verdict, stream.why).toEqual(expectedVerdict(stream, major));
      });
    }
  });
}

describe('the corpus', () => {
  test('names each stream once, in kebab case', () => {
    const names = streams.map(stream => stream.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
  });

  test('says in a sentence why each stream is there', () => {
    for (const { name, why } of streams) {
      expect(why, name).toMatch(/^\p{Lu}.*\.$/u);
    }
  });

  test('opens with the answer to a message, and acts only after windows that exist', () => {
    for (const { name, windows, acts = [] } of streams) {
      expect(windows[0]?.resume, name).toBeUndefined();
      for (const { after } of acts) {
        expect(after, name).toBeLessThan(windows.length);
      }
      expect(
        acts.map(act => act.after),
        name,
      ).toEqual(acts.map(act => act.after).sort((a, b) => a - b));
    }
  });

  test('says a verdict for both versions once where they agree', () => {
    for (const { name, expect: expectation } of streams) {
      if (!('both' in expectation)) {
        expect(expectation[6], name).not.toEqual(expectation[7]);
      }
    }
  });

  test('holds good streams and every kind of bad one', () => {
    const verdicts = streams.flatMap(stream => majors.map(major => expectedVerdict(stream, major)));
    expect(new Set(verdicts.map(verdict => verdict.outcome))).toEqual(
      new Set(['ok', 'throws', 'loops', 'stuck']),
    );
    expect(new Set(verdicts.flatMap(verdict => verdict.wrong ?? []))).toEqual(
      new Set(['invalid', 'part-twice', 'split', 'state-back', 'unfinished']),
    );
  });
});
