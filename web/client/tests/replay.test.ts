/** What a chat is given of a message that is told again: no more and no less than it lacks. */
import { describe, expect, test } from 'vitest';
import type { Chunk } from '../src/chunk.ts';
import { Delivered } from '../src/delivered.ts';
import { OtherMessage, Replay } from '../src/replay.ts';
import { tellMessage } from '../src/told-message.ts';

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

/** What is new in a telling to a chat that has a message, and was given some chunks on top. */
function news({ base, given = [] }: { base?: object[]; given?: Chunk[] }, told: Chunk[]): Chunk[] {
  const delivered = new Delivered(
    base && { id: 'm', role: 'assistant', parts: [{ type: 'step-start' }, ...base] },
  );
  for (const chunk of given) {
    delivered.note(chunk);
  }
  const replay = new Replay(delivered);
  return told.flatMap(chunk => replay.take(chunk));
}

const part = (state: string, rest: object = {}) => ({
  type: 'tool-x',
  toolCallId: 'a',
  state,
  input: {},
  ...rest,
});

test('all of it, to a chat that has nothing', () => {
  const told = [start, startStep, inputStart, available, finishStep, finish];
  expect(news({}, told)).toEqual(told);
});

test('nothing but the end, to a chat that has all', () => {
  const told = [start, startStep, inputStart, available, ask('g'), finishStep];
  expect(news({ given: told }, [...told, finish])).toEqual([finish]);
});

test('nothing of another message', () => {
  expect(() => news({ given: [start] }, [{ type: 'start', messageId: 'other' }])).toThrow(
    OtherMessage,
  );
});

test('the metadata of a start that it had', () => {
  expect(news({ given: [start] }, [{ ...start, messageMetadata: { a: 1 } }])).toEqual([
    { type: 'message-metadata', messageMetadata: { a: 1 } },
  ]);
});

describe('blocks', () => {
  const block = (id: string, delta: string): Chunk[] => [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
  ];

  test('go on under the ids that the chat has open', () => {
    const given = [start, startStep, ...block('1', 'Hel')];
    const told = [start, startStep, ...block('7', 'Hello'), { type: 'text-end', id: '7' }];
    expect(news({ given }, told)).toEqual([
      { type: 'text-delta', id: '1', delta: 'lo' },
      { type: 'text-end', id: '1' },
    ]);
  });

  test('never get an id that is open', () => {
    const given = [start, startStep, ...block('1', 'One')];
    const told = [start, startStep, ...block('7', 'One'), ...block('1', 'Two')];
    expect(news({ given }, told)).toEqual(block("1'", 'Two'));
  });
});

test('sources are the same under any id, and data with an id is the last that was told', () => {
  const source = (sourceId: string): Chunk => ({ type: 'source-url', sourceId, url: 'https://a' });
  const data = (value: number): Chunk => ({ type: 'data-x', id: 'd', data: value });
  const given = [start, startStep, source('1'), data(1), data(2)];
  const told = [start, startStep, source('7'), source('8'), data(1), data(2)];
  expect(news({ given }, told)).toEqual([source('8'), data(1), data(2)]);
});

describe('questions', () => {
  test('that the chat has answered are not asked again', () => {
    const base = [part('approval-responded', { approval: { id: 'g', approved: true } })];
    const told = [start, startStep, inputStart, available, ask('g'), finishStep];
    expect(news({ base }, told)).toEqual([start]);
  });

  test('that are new are asked', () => {
    const base = [part('approval-responded', { approval: { id: 'g', approved: true } })];
    const told = [start, startStep, inputStart, available, finishStep, ask('h'), finish];
    expect(news({ base }, told)).toEqual([start, ask('h'), finish]);
  });
});

describe('a call of the page that a question held', () => {
  const answered = { approval: { id: 'g', approved: true } };

  test('is announced after its step', () => {
    const base = [part('approval-responded', answered)];
    const told = [start, startStep, inputStart, inputDelta, finishStep, available, finish];
    expect(news({ base }, told)).toEqual([start, available, finish]);
  });

  test('is announced in its step, if the chat knows that it was held', () => {
    const base = [part('approval-responded', { ...answered, rawInput: '{}' })];
    const told = [start, startStep, inputStart, inputDelta, available, finishStep, finish];
    expect(news({ base }, told)).toEqual([start, available, finish]);
  });

  test('is announced once', () => {
    const base = [part('approval-responded', { ...answered, rawInput: '{}' })];
    const told = [start, startStep, inputStart, inputDelta, finishStep, available];
    expect(news({ base, given: [start, available] }, [...told, finish])).toEqual([finish]);
  });
});

describe('progress', () => {
  test('that the chat has seen is not shown again', () => {
    const given = [start, startStep, inputStart, available, output(1, true), output(2, true)];
    const told = [...given, output(3, true)];
    expect(news({ given }, told)).toEqual([output(3, true)]);
  });

  test('before the last that the chat has is old', () => {
    const base = [part('approval-responded', { output: 2, preliminary: true })];
    const told = [start, startStep, inputStart, available, output(1, true), output(2, true)];
    expect(news({ base }, [...told, output(3, true)])).toEqual([start, output(3, true)]);
  });
});

describe('an outcome', () => {
  const told = [start, startStep, inputStart, inputDelta, finishStep];

  test('that the page gave itself is told where the server knows better', () => {
    const base = [part('output-available', { output: 'mine' })];
    expect(news({ base }, [...told, output('mine')])).toEqual([start]);
    expect(news({ base }, [...told, output('theirs')])).toEqual([start, output('theirs')]);
  });

  test('is a denial to whoever said no', () => {
    const base = [part('approval-responded', { approval: { id: 'g', approved: false } })];
    const error = { type: 'tool-output-error', toolCallId: 'a', errorText: 'Denied' };
    const denied = { type: 'tool-output-denied', toolCallId: 'a' };
    expect(news({ base }, [...told, error])).toEqual([start, denied]);
    expect(news({ base, given: [start, denied] }, [...told, error])).toEqual([]);
  });

  test('that is a denial stays one', () => {
    const base = [part('output-denied', { approval: { id: 'g' } })];
    const error = { type: 'tool-output-error', toolCallId: 'a', errorText: 'Denied' };
    expect(news({ base }, [...told, error])).toEqual([start]);
  });
});

describe('a message that is over', () => {
  const denied = part('output-denied', { approval: { id: 'g', approved: false, reason: 'no' } });
  const message = { id: 'm', role: 'assistant', parts: [{ type: 'step-start' }, denied] };

  test('is denied to whoever was asked, and failed to whoever was not', () => {
    const asked = new Delivered();
    for (const chunk of [start, startStep, inputStart, available, ask('g')]) {
      asked.note(chunk);
    }
    expect(tellMessage(message, asked)).toContainEqual({
      type: 'tool-output-denied',
      toolCallId: 'a',
    });
    expect(tellMessage(message, new Delivered())).toContainEqual({
      type: 'tool-output-error',
      toolCallId: 'a',
      errorText: 'Denied: no',
    });
  });

  test('announces nothing', () => {
    const types = tellMessage(message, new Delivered()).map(({ type }) => type);
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
