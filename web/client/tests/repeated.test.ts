/** Questions that are asked again are shown once. */
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { withoutRepeats } from '../src/repeated.ts';

const call = (toolCallId: string, state: string, approval?: object) => ({
  type: 'dynamic-tool',
  toolName: 'pay',
  toolCallId,
  state,
  input: {},
  ...(approval && { approval }),
});

const shown = (...parts: object[]) =>
  withoutRepeats(parts as UIMessage['parts']).flatMap(part =>
    'toolCallId' in part ? [part.toolCallId] : [part.type],
  );

const g = { id: 'g' };

test('a question that is at its call is shown there', () => {
  const asked = call('a', 'approval-requested', g);
  expect(shown(asked, call('g~1', 'approval-requested', g))).toEqual(['a']);
  const yes = { ...g, approved: true };
  const answered = call('a', 'approval-responded', yes);
  expect(shown(answered, call('g~1', 'approval-responded', yes))).toEqual(['a']);
});

test('a question that was never asked at its call is shown where it is asked last', () => {
  const at = call('a', 'input-available');
  const repeats = [call('g~1', 'approval-requested', g), call('g~2', 'approval-requested', g)];
  expect(shown(at, ...repeats)).toEqual(['a', 'g~2']);
});

test('a question that is settled is shown at its call alone', () => {
  const yes = { ...g, approved: true };
  const done = call('a', 'output-available');
  const text = { type: 'text' };
  expect(shown(done, call('g~1', 'output-available', yes), text)).toEqual(['a', 'text']);
  // A page that came back was spared the question.
  expect(shown(done, call('g~1', 'output-available'), text)).toEqual(['a', 'text']);
});

test('a call that the page is to run in the place of another is shown', () => {
  const left = call('a', 'output-available', { ...g, approved: true });
  expect(shown(left, call('h+1', 'input-available'))).toEqual(['a', 'h+1']);
});
