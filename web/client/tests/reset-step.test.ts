/** A chat of version 7 can be made to forget a step that the server began again. */
import * as ai from 'ai';
import { describe, expect, test } from 'vitest';
import type { Chunk } from '../src/chunk.ts';
import { Delivered } from '../src/delivered.ts';
import { Diverged, Replay } from '../src/replay.ts';
import { isVersion7 } from './support/major.ts';

const before: Chunk[] = [
  { type: 'start', messageId: 'm' },
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Kept.' },
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'text-start', id: '2' },
  { type: 'text-delta', id: '2', delta: 'Good morning' },
];

const after: Chunk[] = [
  ...before.slice(0, 8),
  { type: 'text-delta', id: '2', delta: 'Good evening' },
  { type: 'text-end', id: '2' },
  { type: 'finish-step' },
  { type: 'finish' },
];

function replayed(chunks: Chunk[], canReset: boolean): Chunk[] {
  const delivered = new Delivered();
  for (const chunk of before) {
    delivered.note(chunk);
  }
  const replay = new Replay(delivered, { canReset });
  return chunks.flatMap(chunk => replay.take(chunk));
}

test('only the step that was begun again is forgotten', () => {
  expect(replayed(after, true)).toEqual([
    { type: 'reset-step' },
    { type: 'text-start', id: '2' },
    { type: 'text-delta', id: '2', delta: 'Good evening' },
    { type: 'text-end', id: '2' },
    { type: 'finish-step' },
    { type: 'finish' },
  ]);
});

test('where that can not be said, it is not passed over', () => {
  expect(() => replayed(after, false)).toThrow(Diverged);
});

test('a step that the chat has left can not be begun again', () => {
  const changed = after.map(chunk => (chunk.delta === 'Kept.' ? { ...chunk, delta: 'x' } : chunk));
  expect(() => replayed(changed, true)).toThrow(Diverged);
});

// Version 6 has no chunk for it.
if (isVersion7) {
  describe('on a real chat', () => {
    test('shows what was said last', async () => {
      const given = [...before, ...replayed(after, true)];
      const stream = new ReadableStream<ai.UIMessageChunk>({
        start(controller) {
          for (const chunk of given) {
            controller.enqueue(chunk as ai.UIMessageChunk);
          }
          controller.close();
        },
      });
      let message: ai.UIMessage | undefined;
      for await (const state of ai.readUIMessageStream({ stream })) {
        message = state;
      }
      const texts = message?.parts.flatMap(part => (part.type === 'text' ? [part.text] : []));
      expect(texts).toEqual(['Kept.', 'Good evening']);
    });
  });
}
