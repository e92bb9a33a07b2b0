/** Our own checker says of each stream what the real clients say, and ends with their messages. */
import { beforeAll, describe, expect, test } from 'vitest';
import { drive } from '../src/client.ts';
import { corpusDirectory, loadCorpus } from '../src/corpus.ts';
import { type Major, majors } from '../src/sdk.ts';
import { specimens } from '../src/specimens.ts';
import type { Verdict } from '../src/stream.ts';

type Message = { id: string; [field: string]: unknown };

type Checked = Verdict & { name: string; sdk: Major; messages: Message[] };

const corpus = loadCorpus();
const checked = new Map<string, Checked>();

function key(name: string, major: Major): string {
  return `${name} on ${major}`;
}

beforeAll(() => {
  for (const line of specimens<Checked>('streams', corpusDirectory)) {
    const id = key(line.name, line.sdk);
    if (checked.has(id)) {
      throw new Error(`specimens printed ${id} twice`);
    }
    checked.set(id, line);
  }
});

for (const { file, streams } of corpus) {
  describe(file, () => {
    for (const stream of streams) {
      test.each(majors)(`${stream.name}, on version %s`, async major => {
        const ours = checked.get(key(stream.name, major));
        if (ours === undefined) {
          throw new Error('specimens printed nothing about this stream');
        }
        const theirs = await drive(stream, major);
        expect(verdictOf(ours), stream.why).toEqual(theirs.verdict);
        // After a throw the messages are whatever was read by then, and a loop has no end.
        if (theirs.verdict.outcome !== 'throws' && theirs.verdict.outcome !== 'loops') {
          const messages = asSent(theirs.messages);
          expect(withTheirIds(ours.messages, messages), stream.why).toEqual(messages);
        }
      });
    }
  });
}

test('our checker speaks of no stream that is not in the corpus', () => {
  const known = corpus.flatMap(({ streams }) =>
    streams.flatMap(stream => majors.map(major => key(stream.name, major))),
  );
  expect([...checked.keys()].sort()).toEqual(known.sort());
});

function verdictOf({ outcome, reason, wrong }: Checked): Verdict {
  return {
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(wrong === undefined ? {} : { wrong }),
  };
}

/** The messages as a server would receive them: without the fields that are undefined. */
function asSent(messages: object[]): Message[] {
  return JSON.parse(JSON.stringify(messages)) as Message[];
}

/** Ids that the client made up need not be the same, they need only be there. */
function withTheirIds(ours: Message[], theirs: Message[]): Message[] {
  return ours.map((message, index) => {
    const id = theirs[index]?.id;
    const isMadeUp = id?.startsWith('gen-') && typeof message.id === 'string' && message.id !== '';
    return isMadeUp ? { ...message, id } : message;
  }) as Message[];
}
