/** JSON to the last digit. */
import { describe, expect, test } from 'vitest';
import { exactField, readExactJson } from '../src/exact-json.ts';

test('numbers keep every digit, and keys their order', () => {
  const text = '{"10":9007199254740993, "2": 0.10, "a":[1E400,-0.0], "10":7}';
  const json = readExactJson(text);
  expect(json.text).toBe(text);
  expect(json.kind === 'object' && json.entries.map(([name]) => name)).toEqual([
    '10',
    '2',
    'a',
    '10',
  ]);
  expect(exactField(json, '2')).toEqual({ kind: 'number', text: '0.10' });
  expect(exactField(json, 'a')?.text).toBe('[1E400,-0.0]');
  expect(exactField(json, '10')?.text, 'the last one counts').toBe('7');
});

test('names of the prototype are names like any other', () => {
  const json = readExactJson('{"__proto__":{"toString":1},"constructor":null}');
  expect(exactField(json, '__proto__')?.text).toBe('{"toString":1}');
  expect(exactField(json, 'constructor')).toEqual({ kind: 'null', text: 'null' });
  expect(exactField(json, 'toString')).toBeUndefined();
});

test('strings are read with their escapes', () => {
  const value = 'a "quoted" \\ back\\\\slash\n\u202e\u{1F600}';
  const text = JSON.stringify({ [value]: value });
  const json = readExactJson(text);
  expect(exactField(json, value)).toEqual({ kind: 'string', text: JSON.stringify(value), value });
  expect(readExactJson('"\\\\"')).toMatchObject({ value: '\\' });
});

describe('agrees with JSON.parse', () => {
  const good = ['{}', ' [ ] ', '0', '-1.5e+7', 'true', ' null ', '""', '{"a":{"b":[{}]}}'];
  test.each(good)('that %s is JSON', text => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(readExactJson(text).text).toBe(text.trim());
  });

  const bad = [
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "'a'",
    '01',
    '1.',
    '.5',
    '+1',
    'tru',
    '"a',
    '"\n"',
    '"\\x"',
    '1 2',
    'NaN',
    '{"a" 1}',
    '[1 2]',
    '"a\\"',
  ];
  test.each(bad)('that %s is not', text => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => readExactJson(text)).toThrow(SyntaxError);
  });
});

test('what is nested too deeply is refused, and does not end the page', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(() => readExactJson(deep)).toThrow('nested deeper');
});
