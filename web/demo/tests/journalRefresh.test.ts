/** How the page reads a journal on. */
import { beforeEach, expect, test, vi } from 'vitest';
import type { Entry } from '../src/journal/entry.ts';
import { Journal } from '../src/journal/journal.ts';
import { readJournal } from '../src/server/api.ts';

vi.mock('../src/server/api.ts', () => ({ readJournal: vi.fn() }));

type Request = { after: number; answer: (...seqs: number[]) => void; fail: () => void };

/** What was asked for. Each request is answered when the test says so. */
const requests: Request[] = [];

beforeEach(() => {
  requests.length = 0;
  vi.mocked(readJournal).mockImplementation(
    (_, after) =>
      new Promise((resolve, reject) => {
        const entry = (seq: number): Entry => ({ seq, at: seq, actor: 'demo', events: [] });
        requests.push({
          after,
          answer: (...seqs) => resolve(seqs.map(entry)),
          fail: () => reject(new Error('The server is away.')),
        });
      }),
  );
});

test('what happens while the journal is being read is read as well', async () => {
  const journal = new Journal('chat');
  const first = journal.refresh();
  // The server has read its entries for the first request; one more is stored, and the page is notified.
  const second = journal.refresh();
  const third = journal.refresh();
  requests[0]?.answer(1);
  await expect(first).resolves.toBe(true);
  await vi.waitFor(() => expect(requests.map(({ after }) => after)).toEqual([0, 1]));
  requests[1]?.answer(2);
  await expect(second).resolves.toBe(true);
  await expect(third).resolves.toBe(true);
  expect(journal.get().entries.map(({ seq }) => seq)).toEqual([1, 2]);
  // Both were served by one more reading.
  expect(requests).toHaveLength(2);
});

test('a reading that fails keeps no later one from being made', async () => {
  const journal = new Journal('chat');
  const first = journal.refresh();
  const second = journal.refresh();
  requests[0]?.fail();
  await expect(first).rejects.toThrow('away');
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  requests[1]?.answer(1);
  await expect(second).resolves.toBe(true);
});
