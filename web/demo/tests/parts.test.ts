/** Parts of the page that need no browser: words for states, Markdown in blocks, films of chats. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdkStreamError } from '@adk-stream/client';
import { describe, expect, test } from 'vitest';
import { blocks } from '../src/chat/blocks.ts';
import type { Outcome } from '../src/journal/entry.ts';
import { momentsOf } from '../src/journal/moments.ts';
import { en } from '../src/language/en.ts';
import { ja } from '../src/language/ja.ts';
import type { Frame } from '../src/server/api.ts';
import { problemOf, read } from '../src/server/problem.ts';
import type { ToolPart } from '../src/tools/toolParts.ts';
import { type Recorded, toolState } from '../src/tools/toolState.ts';
import { projectRoot } from './server.ts';

const standing = { isOpen: true, isBusy: false, isBroken: false };

/** What the server says in code, so that the page and the server can't drift apart. */
function serverWords(name: string): string {
  const code = readFileSync(join(projectRoot, 'crates/turn/src/reason.rs'), 'utf8');
  return new RegExp(`const ${name}: &str = "([^"]+)"`).exec(code)?.[1] ?? '';
}

function state(part: Partial<ToolPart>, recorded: Recorded = {}) {
  const whole = { type: 'tool-x', toolCallId: 'c', input: {}, ...part } as ToolPart;
  return toolState(whole, standing, recorded, en.tool);
}

describe('the state of a call', () => {
  test('a call of unknown outcome says so, why, and what to do', () => {
    const code = readFileSync(join(projectRoot, 'crates/turn/src/reason.rs'), 'utf8');
    const sentences = [...code.matchAll(/"(The outcome is unknown: [^"]+)"/g)].map(([, it]) => it);
    expect(sentences).toHaveLength(7);
    for (const errorText of sentences) {
      const part = { state: 'output-error' as const, errorText: errorText ?? '' };
      expect(state(part)).toEqual({ word: 'unknown', note: en.tool.outcomeUnknown.unsaid });
      // The journal says why; one of an earlier version does not.
      const stopped = { outcome: 'unknown' as const, reason: 'turn-stopped' };
      expect(state(part, { outcome: stopped }).note).toBe(en.tool.outcomeUnknown['turn-stopped']);
      const earlier = { outcome: 'unknown' as const };
      expect(state(part, { outcome: earlier }).note).toBe(en.tool.outcomeUnknown['server-stopped']);
    }
  });

  test('a question that nobody answered has timed out', () => {
    const errorText = serverWords('TIMED_OUT');
    expect(errorText).not.toBe('');
    expect(state({ state: 'output-error', errorText }).word).toBe('timed out');
  });

  test('a denial that could only be sent as an error is a denial', () => {
    const denied = { state: 'output-error' as const, errorText: 'Denied: too much' };
    expect(state(denied)).toEqual({ word: 'denied', note: 'too much' });
  });

  test('an output that says no has failed', () => {
    const output = { success: false, error: 'too little money' };
    expect(state({ state: 'output-available', output })).toEqual({
      word: 'failed',
      note: 'too little money',
    });
  });
});

describe('a call that goes on by itself', () => {
  const part = { state: 'output-available' as const, output: { status: 'pending' } };

  test('is not done before its result is there', () => {
    expect(state(part)).toEqual({ word: 'running', note: en.tool.later });
  });

  test('is what its result says', () => {
    const result = (outcome: Outcome) => state(part, { result: outcome });
    expect(result({ outcome: 'output', output: { pages: 3 } })).toEqual({ word: 'done' });
    expect(result({ outcome: 'error', error: 'no ink' })).toEqual({
      word: 'failed',
      note: 'no ink',
    });
    expect(result({ outcome: 'unknown' }).word).toBe('unknown');
  });
});

describe('Markdown in blocks', () => {
  test('is cut where a block ends', () => {
    expect(blocks('# One\n\ntwo\nlines\n\nthree')).toEqual(['# One\n', 'two\nlines\n', 'three']);
  });

  test('keeps fences and lists whole', () => {
    const code = '```\na\n\nb\n```';
    const list = '1. a\n\n2. b\n\n   c';
    expect(blocks(code)).toEqual([code]);
    expect(blocks(list)).toEqual([list]);
    expect(blocks('```\nstill\n\nopen')).toEqual(['```\nstill\n\nopen']);
  });

  test('loses nothing but blank space', () => {
    const text = 'a\n\n- b\n\nc\n\n~~~\nd\n\n~~~\n\ne';
    expect(blocks(text).join('\n')).toBe(text);
  });
});

describe('a recording', () => {
  const frame = (seq: number, at: number, chunks: object[]): Frame =>
    ({ seq, at, actor: 'a', messageId: 'm', chunks }) as Frame;

  test('spreads the words of a step over the time that it took', () => {
    const words = { type: 'text-delta', id: '1', delta: 'one two three four' };
    const moments = momentsOf([frame(1, 1_000, []), frame(2, 2_000, [words])]);
    expect(moments.map(({ at }) => at)).toEqual([250, 500, 750, 1_000]);
    const chunksShown = moments.flatMap(({ chunks }) => chunks);
    expect(chunksShown.map(chunk => 'delta' in chunk && chunk.delta).join('')).toBe(
      'one two three four',
    );
  });

  test('keeps the time that somebody took to answer', () => {
    const asked = frame(1, 0, [{ type: 'finish' }]);
    const done = { type: 'tool-output-available', toolCallId: 'c', output: 1 };
    const moments = momentsOf([asked, frame(2, 60_000, [done])]);
    expect(moments.at(-1)?.at).toBe(60_000);
  });

  test('cuts Japanese, which has no spaces', () => {
    const words = { type: 'text-delta', id: '1', delta: '東京の天気は曇りです。' };
    expect(momentsOf([frame(1, 0, []), frame(2, 100, [words])]).length).toBeGreaterThan(3);
  });
});

test('problems are read from streams and from answers', () => {
  expect(read('rate_limited: Try again later.')).toEqual({
    code: 'rate_limited',
    message: 'Try again later.',
  });
  const limited = { code: 'rate_limited', message: 'Wait.', retryAfterMs: 16_500 };
  expect(problemOf(new AdkStreamError(limited))).toMatchObject({ retryAfter: 17 });
  expect(read('{"error":{"code":"too_large","message":"x"}}').code).toBe('too_large');
  expect(problemOf(new TypeError('fetch failed')).code).toBe('network');
  expect(read('Something: else')).toEqual({ code: '', message: 'Something: else' });
});

test('both languages have a word for everything', () => {
  const names = (value: unknown, path = ''): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => names(inner, `${path}.${name}`))
      : [path];
  // Two labels of the cards, which this page says in its own way, are no words of the page.
  const others = ['.approval.asked', '.approval.failed'];
  const own = (words: object) =>
    names({ ...words, fields: {} })
      .filter(name => !others.includes(name))
      .sort();
  expect(own(ja)).toEqual(own(en));
});
