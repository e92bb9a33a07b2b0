/** Questions that are asked again are shown once. */
import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { withoutRepeats } from '../src/repeated.ts';

const call = (toolCallId: string, state: string, approval?: object, proxyFor?: object) => ({
  type: 'dynamic-tool',
  toolName: 'pay',
  toolCallId,
  state,
  input: {},
  ...(approval && { approval }),
  ...(proxyFor && { callProviderMetadata: { adkStream: { proxyFor } } }),
});

/** A proxy of `a`, which says so, and as older servers had it. */
const repeats = [
  {
    of: 'a server that says it',
    repeat: (n: number, state: string, approval?: object) =>
      call(`again-${n}`, state, approval, { toolCallId: 'a', approvalId: 'g' }),
    id: (n: number) => `again-${n}`,
  },
  {
    of: 'an older server',
    repeat: (n: number, state: string, approval?: object) => call(`gate_g~${n}`, state, approval),
    id: (n: number) => `gate_g~${n}`,
  },
];

const shown = (...parts: object[]) =>
  withoutRepeats(parts as UIMessage['parts']).flatMap(part =>
    'toolCallId' in part ? [part.toolCallId] : [part.type],
  );

const g = { id: 'g' };
const yes = { ...g, approved: true };

describe.each(repeats)('of $of', ({ repeat, id }) => {
  test('a question that is at its call is shown there', () => {
    const asked = call('a', 'approval-requested', g);
    expect(shown(asked, repeat(1, 'approval-requested', g))).toEqual(['a']);
    const answered = call('a', 'approval-responded', yes);
    expect(shown(answered, repeat(1, 'approval-responded', yes))).toEqual(['a']);
  });

  test('a question that was never asked at its call is shown where it is asked last', () => {
    const at = call('a', 'input-available');
    const again = [1, 2].map(n => repeat(n, 'approval-requested', g));
    expect(shown(at, ...again)).toEqual(['a', id(2)]);
  });

  test('a question that is settled is shown at its call alone', () => {
    const done = call('a', 'output-available');
    const text = { type: 'text' };
    expect(shown(done, repeat(1, 'output-available', yes), text)).toEqual(['a', 'text']);
    // A page that came back was spared the question.
    expect(shown(done, repeat(1, 'output-available'), text)).toEqual(['a', 'text']);
  });
});

test('a call that the page is to run in the place of another is shown', () => {
  const left = call('a', 'output-available', yes);
  const run = call('h', 'input-available', undefined, { toolCallId: 'a' });
  expect(shown(left, run)).toEqual(['a', 'h']);
  expect(shown(left, call('gate_h+1', 'input-available'))).toEqual(['a', 'gate_h+1']);
});

test('a call of an agent whose id looks like a repeat is none', () => {
  const asked = call('a', 'approval-requested', g);
  expect(shown(asked, call('call~1', 'approval-requested', { id: 'h' }))).toEqual(['a', 'call~1']);
});
