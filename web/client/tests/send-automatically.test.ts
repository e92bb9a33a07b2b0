/** When a chat sends by itself, and when it has sent often enough. */
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { sendAutomaticallyWhen } from '../src/send-automatically.ts';

let messages = 0;

function answeredBy(...parts: object[]): { messages: UIMessage[] } {
  const message = { id: `m-${++messages}`, role: 'assistant', parts };
  return { messages: [message as UIMessage] };
}

const step = { type: 'step-start' };

const part = (state: string, rest: object = {}) => ({
  type: 'tool-x',
  toolCallId: 'a',
  input: {},
  state,
  ...rest,
});

const approved = { approval: { id: 'g-1', approved: true } };

test.each([
  ['an answered approval', [step, part('approval-responded', approved)], true],
  ['an open approval', [step, part('approval-requested', { approval: { id: 'g-1' } })], false],
  ['an output of the page', [step, part('output-available', { output: 1 })], true],
  ['a failure of the page', [step, part('output-error', { errorText: 'x' })], true],
  ['a call that runs', [step, part('input-available')], false],
  [
    'a text after it',
    [step, part('output-available', { output: 1 }), step, { type: 'text' }],
    false,
  ],
  ['nothing', [], false],
])('%s', (_, parts, sends) => {
  expect(sendAutomaticallyWhen(answeredBy(...parts))).toBe(sends);
});

test('a server that asks for the same answer for ever is sent it three times', () => {
  const same = answeredBy(step, part('output-available', { output: 1 }));
  const sent = Array.from({ length: 10 }, () => sendAutomaticallyWhen(same));
  expect(sent.filter(Boolean)).toHaveLength(3);
  expect(sendAutomaticallyWhen(answeredBy(step, part('output-available', { output: 1 })))).toBe(
    true,
  );
});

test('two questions of one call are two answers', () => {
  const first = answeredBy(step, part('approval-responded', approved));
  for (let times = 0; times < 4; times++) {
    sendAutomaticallyWhen(first);
  }
  expect(sendAutomaticallyWhen(first)).toBe(false);
  const [message] = first.messages;
  const second = part('approval-responded', { approval: { id: 'g-2', approved: true } });
  expect(
    sendAutomaticallyWhen({ messages: [{ ...message, parts: [step, second] } as UIMessage] }),
  ).toBe(true);
});
