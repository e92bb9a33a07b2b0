/** Where a chat is, as client and server count it alike. */
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import type { Chunk } from '../src/chunk.ts';
import { approvalsIn, extentOf, hashValue, StreamPosition } from '../src/stream-position.ts';

const seed = 0x811c9dc5;

// The server's own test (crates/view/src/ai_sdk/step_hash.rs) has the same.
test('values are hashed as the server hashes them', () => {
  expect(hashValue(seed, 'a')).toBe(0xe40c292c);
  expect(hashValue(seed, 'foobar')).toBe(0xbf9cf968);
  const value = { type: 'data-x', data: [1, 0.5, -3e21, true, null, 'ü😀'], 2: {} };
  expect(hashValue(seed, value)).toBe(0xd4fef427);
});

// The server's own test (crates/wire/src/frame.rs) has the same.
test.each<[Chunk, number]>([
  [{ type: 'start', messageId: 'm' }, 0],
  [{ type: 'start-step' }, 1],
  [{ type: 'text-start', id: '1' }, 1],
  [{ type: 'text-delta', id: '1', delta: 'ü😀' }, 6],
  [{ type: 'reasoning-delta', id: '1', delta: 'abc' }, 3],
  [{ type: 'data-x', data: 1, transient: true }, 0],
  [{ type: 'data-x', data: 1 }, 1],
  [{ type: 'tool-output-available', toolCallId: 'c', output: 1, preliminary: true }, 0],
  [{ type: 'tool-output-available', toolCallId: 'c', output: 1 }, 1],
  [{ type: 'reset-step' }, 0],
  [{ type: 'finish' }, 1],
])('%o counts %i', (chunk, extent) => {
  expect(extentOf(chunk)).toBe(extent);
});

/** A position behind some chunks, numbered as they come. */
function behind(...chunks: Chunk[]) {
  const position = new StreamPosition();
  let sequence = 0;
  for (const chunk of chunks) {
    sequence += extentOf(chunk);
    expect(position.place({ sequence, gap: false, chunk })).toBe('next');
    position.note({ sequence, gap: false, chunk });
  }
  return position;
}

const start: Chunk = { type: 'start', messageId: 'm' };
const step: Chunk = { type: 'start-step' };
const textStart: Chunk = { type: 'text-start', id: '1' };
const says = (delta: string): Chunk => ({ type: 'text-delta', id: '1', delta });

test('how words are cut into deltas makes no difference, and what they are does', () => {
  const point = behind(start, step, textStart, says('Hello'), says(' you')).point;
  expect(behind(start, step, textStart, says('Hel'), says('lo you')).point).toEqual(point);
  const other = behind(start, step, textStart, says('Hello'), says(' two')).point;
  expect(other).toEqual({ ...point, stepHash: other?.stepHash });
  expect(other?.stepHash).not.toBe(point?.stepHash);
});

test('a hash is of the last step alone', () => {
  const { point } = behind(start, step, textStart, says('one'), { type: 'finish-step' }, step);
  expect(point).toEqual({
    messageId: 'm',
    lastSequence: 7,
    stepSequence: 7,
    stepHash: seed,
    approvals: [],
  });
});

test('a chunk that is missing shows, and one that comes twice', () => {
  const position = behind(start, step, textStart);
  const place = (sequence: number, gap = false) =>
    position.place({ sequence, gap, chunk: says('ab') });
  expect(place(4)).toBe('next');
  expect(place(5)).toBe('early');
  expect(place(5, true)).toBe('next');
  expect(place(2)).toBe('repeated');
  expect(new StreamPosition().place({ sequence: 1, gap: false, chunk: step })).toBe('early');
});

test('the questions that a chat shows are said, with its own answers', () => {
  const approval = { id: 'g', approved: false };
  const part = { type: 'tool-pay', toolCallId: 'a', state: 'approval-responded', approval };
  const message = { id: 'm', role: 'assistant', parts: [{ type: 'step-start' }, part] };
  const position = new StreamPosition(approvalsIn(message as UIMessage));
  position.note({ sequence: 4, gap: true, chunk: start });
  const ask: Chunk = { type: 'tool-approval-request', toolCallId: 'b', approvalId: 'h' };
  position.note({ sequence: 5, gap: false, chunk: ask });
  expect(position.point?.approvals).toEqual([
    { approvalId: 'g', toolCallId: 'a', approved: false },
    { approvalId: 'h', toolCallId: 'b' },
  ]);
});
