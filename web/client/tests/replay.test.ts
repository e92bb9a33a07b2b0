/** What a chat is given of a message that is replayed: no more and no less than it lacks. */
import { describe, expect, test } from 'vitest';
import type { Chunk } from '../src/chunk.ts';
import { Delivered } from '../src/delivered.ts';
import { messageToChunks } from '../src/message-chunks.ts';
import { OtherMessage, Replay } from '../src/replay.ts';

const start: Chunk = { type: 'start', messageId: 'm' };
const startStep: Chunk = { type: 'start-step' };
const finishStep: Chunk = { type: 'finish-step' };
const finish: Chunk = { type: 'finish' };
const inputStart: Chunk = { type: 'tool-input-start', toolCallId: 'a', toolName: 'x' };
const inputDelta: Chunk = { type: 'tool-input-delta', toolCallId: 'a', inputTextDelta: '{}' };
const available: Chunk = {
  type: 'tool-input-available',
  toolCallId: 'a',
  toolName: 'x',
  input: {},
};
const ask = (approvalId: string): Chunk => ({
  type: 'tool-approval-request',
  toolCallId: 'a',
  approvalId,
});
const output = (value: unknown, preliminary?: true): Chunk => ({
  type: 'tool-output-available',
  toolCallId: 'a',
  output: value,
  ...(preliminary && { preliminary }),
});

/** What is new in a replay to a chat that has a message, and was given some chunks on top. */
function newChunks(
  { base, given = [] }: { base?: object[]; given?: Chunk[] },
  replayed: Chunk[],
): Chunk[] {
  const delivered = new Delivered(
    base && { id: 'm', role: 'assistant', parts: [{ type: 'step-start' }, ...base] },
  );
  for (const chunk of given) {
    delivered.note(chunk);
  }
  const replay = new Replay(delivered);
  return replayed.flatMap(chunk => replay.take(chunk));
}

const part = (state: string, rest: object = {}) => ({
  type: 'tool-x',
  toolCallId: 'a',
  state,
  input: {},
  ...rest,
});

test('all of it, to a chat that has nothing', () => {
  const replayed = [start, startStep, inputStart, available, finishStep, finish];
  expect(newChunks({}, replayed)).toEqual(replayed);
});

test('nothing but the end, to a chat that has all', () => {
  const replayed = [start, startStep, inputStart, available, ask('g'), finishStep];
  expect(newChunks({ given: replayed }, [...replayed, finish])).toEqual([finish]);
});

test('nothing of another message', () => {
  expect(() => newChunks({ given: [start] }, [{ type: 'start', messageId: 'other' }])).toThrow(
    OtherMessage,
  );
});

test('the metadata of a start that it had', () => {
  expect(newChunks({ given: [start] }, [{ ...start, messageMetadata: { a: 1 } }])).toEqual([
    { type: 'message-metadata', messageMetadata: { a: 1 } },
  ]);
});

describe('blocks', () => {
  const block = (id: string, delta: string): Chunk[] => [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
  ];

  test('continue under the ids that the chat has open', () => {
    const given = [start, startStep, ...block('1', 'Hel')];
    const replayed = [start, startStep, ...block('7', 'Hello'), { type: 'text-end', id: '7' }];
    expect(newChunks({ given }, replayed)).toEqual([
      { type: 'text-delta', id: '1', delta: 'lo' },
      { type: 'text-end', id: '1' },
    ]);
  });

  test('never get an id that is open', () => {
    const given = [start, startStep, ...block('1', 'One')];
    const replayed = [start, startStep, ...block('7', 'One'), ...block('1', 'Two')];
    expect(newChunks({ given }, replayed)).toEqual(block("1'", 'Two'));
  });
});

test('sources are the same under any id, and data with an id is the last that came', () => {
  const source = (sourceId: string): Chunk => ({ type: 'source-url', sourceId, url: 'https://a' });
  const data = (value: number): Chunk => ({ type: 'data-x', id: 'd', data: value });
  const given = [start, startStep, source('1'), data(1), data(2)];
  const replayed = [start, startStep, source('7'), source('8'), data(1), data(2)];
  expect(newChunks({ given }, replayed)).toEqual([source('8'), data(1), data(2)]);
});

describe('questions', () => {
  test('that the chat has answered are not asked again', () => {
    const base = [part('approval-responded', { approval: { id: 'g', approved: true } })];
    const replayed = [start, startStep, inputStart, available, ask('g'), finishStep];
    expect(newChunks({ base }, replayed)).toEqual([start]);
  });

  test('that are new are asked', () => {
    const base = [part('approval-responded', { approval: { id: 'g', approved: true } })];
    const replayed = [start, startStep, inputStart, available, finishStep, ask('h'), finish];
    expect(newChunks({ base }, replayed)).toEqual([start, ask('h'), finish]);
  });
});

describe('a call of the page that a question held', () => {
  const answered = { approval: { id: 'g', approved: true } };

  test('is announced after its step', () => {
    const base = [part('approval-responded', answered)];
    const replayed = [start, startStep, inputStart, inputDelta, finishStep, available, finish];
    expect(newChunks({ base }, replayed)).toEqual([start, available, finish]);
  });

  test('is announced in its step, if the chat knows that it was held', () => {
    const base = [part('approval-responded', { ...answered, rawInput: '{}' })];
    const replayed = [start, startStep, inputStart, inputDelta, available, finishStep, finish];
    expect(newChunks({ base }, replayed)).toEqual([start, available, finish]);
  });

  test('is announced once', () => {
    const base = [part('approval-responded', { ...answered, rawInput: '{}' })];
    const replayed = [start, startStep, inputStart, inputDelta, finishStep, available];
    expect(newChunks({ base, given: [start, available] }, [...replayed, finish])).toEqual([finish]);
  });
});

describe('progress', () => {
  test('that the chat has seen is not shown again', () => {
    const given = [start, startStep, inputStart, available, output(1, true), output(2, true)];
    const replayed = [...given, output(3, true)];
    expect(newChunks({ given }, replayed)).toEqual([output(3, true)]);
  });

  test('before the last that the chat has is old', () => {
    const base = [part('approval-responded', { output: 2, preliminary: true })];
    const replayed = [start, startStep, inputStart, available, output(1, true), output(2, true)];
    expect(newChunks({ base }, [...replayed, output(3, true)])).toEqual([start, output(3, true)]);
  });
});

describe('an outcome', () => {
  const replayed = [start, startStep, inputStart, inputDelta, finishStep];

  test('that the page gave itself is corrected where the server has another', () => {
    const base = [part('output-available', { output: 'mine' })];
    expect(newChunks({ base }, [...replayed, output('mine')])).toEqual([start]);
    expect(newChunks({ base }, [...replayed, output('theirs')])).toEqual([start, output('theirs')]);
  });

  test('is a denial to a client that denied', () => {
    const base = [part('approval-responded', { approval: { id: 'g', approved: false } })];
    const error = { type: 'tool-output-error', toolCallId: 'a', errorText: 'Denied' };
    const denied = { type: 'tool-output-denied', toolCallId: 'a' };
    expect(newChunks({ base }, [...replayed, error])).toEqual([start, denied]);
    expect(newChunks({ base, given: [start, denied] }, [...replayed, error])).toEqual([]);
  });

  test('that is a denial stays one', () => {
    const base = [part('output-denied', { approval: { id: 'g' } })];
    const error = { type: 'tool-output-error', toolCallId: 'a', errorText: 'Denied' };
    expect(newChunks({ base }, [...replayed, error])).toEqual([start]);
  });
});

describe('a message that is over', () => {
  const denied = part('output-denied', { approval: { id: 'g', approved: false, reason: 'no' } });
  const message = { id: 'm', role: 'assistant', parts: [{ type: 'step-start' }, denied] };

  test('is denied to a client that was asked, and failed to one that was not', () => {
    const asked = new Delivered();
    for (const chunk of [start, startStep, inputStart, available, ask('g')]) {
      asked.note(chunk);
    }
    expect(messageToChunks(message, asked)).toContainEqual({
      type: 'tool-output-denied',
      toolCallId: 'a',
    });
    expect(messageToChunks(message, new Delivered())).toContainEqual({
      type: 'tool-output-error',
      toolCallId: 'a',
      errorText: 'Denied: no',
    });
  });

  test('announces nothing', () => {
    const types = messageToChunks(message, new Delivered()).map(({ type }) => type);
    expect(types).toEqual([
      'start',
      'start-step',
      'tool-input-start',
      'tool-input-delta',
      'tool-output-error',
      'finish-step',
    ]);
  });
});
