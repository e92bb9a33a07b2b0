/** How values are read, shown and edited: no browser is needed to say. */
import { readExactJson } from '@adk-stream/client';
import { describe, expect, test } from 'vitest';
import { exactOf, pretty, sizeOf } from '../../client/src/react/exact-value.ts';
import { editedInput } from '../../client/src/react/input-editing.ts';
import { en } from '../src/language/en.ts';
import { ja } from '../src/language/ja.ts';
import { ExactNumber, parseExactly } from '../src/server/exactNumber.ts';
import { intent, money } from '../src/tools/intent.ts';
import { shown } from '../src/tools/output.ts';
import { bounded, escaped, piecesOf } from '../src/tools/spoofing.ts';

const kinds = (text: string) => piecesOf(text).map(({ kind }) => kind);

describe('what is not to be seen', () => {
  test.each([
    ['\u202eabc', '\\u202Eabc'],
    ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
    ['a\u200b\u200b\u200bb', 'a\\u200B×3b'],
    ['a\u00adb\ufeff', 'a\\u00ADb\\uFEFF'],
    ['line\r\nline\t', 'line\\r\\nline\\t'],
    ['a\u00a0b\u2003c', 'a\\u00A0b\\u2003c'],
    ['\u{e0041}', '\\u{E0041}'],
    ['\u3164\u115f', '\\u3164\\u115F'],
    ['\u0000\u001b[31m', '\\u0000\\u001B[31m'],
    ['a\ud800', 'a\\uD800'],
    [' a  ', '␣a␣×2'],
  ])('is written out: %j', (text, expected) => {
    expect(escaped(text)).toBe(expected);
  });

  test('is nothing in pictures, and in what people write', () => {
    for (const text of ['👨‍👩‍👧 ❤️ 🏳️‍🌈', 'Straße, 5 €', '山田　太郎', 'résumé', 'नमस्ते', 'a b']) {
      expect(kinds(text), text).toEqual(['plain']);
    }
  });
});

describe('words of several scripts', () => {
  test.each(['pаypal', 'Ｓаm', 'αlice', 'ѕam', 'ꓢam', 'Ꭺpple', '12٣', '𝐒𝐚𝐦'])(
    '%s is marked',
    text => {
      expect(kinds(`to ${text} now`)).toContain('mixed');
    },
  );

  test.each([
    'Привет мир',
    'Ελλάδα',
    '東京タワーへ',
    'カタカナとKanji漢字',
    '한국어KBS',
    'Bob и Анна',
    '١٢٣',
    'а я',
  ])('%s is not', text => expect(new Set(kinds(text))).toEqual(new Set(['plain'])));

  test.each(['ꓢꓮꓟ', 'ꓑꓮꓬꓑꓮꓡ', 'ᏚᎪᎷ', 'ⲤⲞⲔ', 'ᔕᗩᗰ', '𐐝𐐢'])('%s is of a rare one', text => {
    expect(kinds(text)).toEqual(['rare']);
    expect(kinds(`Pay ${text} и Анна`)).toEqual(['plain', 'rare', 'plain']);
  });

  test.each(['Ｓａｍ', 'Ｓam', '１００', 'ᵖay', 'Ⅽⅼ'])(
    '%s represents Latin letters or digits',
    text => {
      expect(kinds(text)).toEqual(['lookalike']);
    },
  );

  test.each(['ไทย', 'தமிழ்', 'ქართული', 'አማርኛ', 'ភាសាខ្មែរ', '2ª', 'm²'])('%s is as it seems', text =>
    expect(kinds(text)).toEqual(['plain']),
  );

  test('each word is judged by itself, whatever honest words stand around it', () => {
    expect(kinds('Привет ѕаѕо')).toEqual(['plain', 'lookalike']);
    expect(kinds('ѕаѕо и Анна')).toEqual(['lookalike', 'plain']);
    // Of one letter, beside an honest word of its script, nothing is said.
    expect(kinds('Agent А')).toEqual(['plain', 'lookalike']);
    expect(kinds('Анна и А')).toEqual(['plain']);
  });

  test('a word that only looks Latin is marked', () => {
    expect(kinds('ѕаѕо')).toEqual(['lookalike']);
    expect(kinds('Pay ВАNК')).toContain('mixed');
    expect(kinds('а вот и он')).toEqual(['plain']);
  });
});

describe('letters and signs that read as others', () => {
  test.each(['pɑypal', 'Lıam', 'ɡoogle', 'ʙank', 'Samǃ', 'ǀban', 'Ӏа'])('%s is marked', text => {
    expect(kinds(`to ${text} now`)).toContain('lookalike');
  });

  test.each([
    'example․com',
    '1‚000',
    'a∕b',
    '＄500',
    '500．00',
    'evil．com／x',
    'a∗b',
    '10∶30',
    'x꞉y',
    'a։b',
    '5٫5',
    'a＠b.com',
  ])('the sign in %s is marked', text => {
    expect(kinds(`to ${text} now`)).toContain('sign');
  });

  test.each([
    '“Don’t”, he said — ‘no’…',
    'A–B, 5 €, €5, £5, ¥500, 20°C, 5×3, −5, 50‰, §5, ©2026, Acme™',
    '»Sam« und «Ann», ‚so‘, „gut“',
    '¿Sam? ¡Ann!',
    'Sam 👍🏽Ann ★5 →B',
    'Sayın Ayşe Yıldız, kızınız yarın gelecek',
    '山田（Yamada）さんへ：500円、100％、10～20個。「Sam」へ！',
    '支付500，收款人Sam。订单（A-1）：完成！',
    '송금：500원, Sam에게',
    'पैसे ५ रुपये। Sam को',
    '٥٠٪ من المبلغ، إلى Sam',
    'გამარჯობა, Sam',
    'Tiếng Việt, Łódź, Ærøskøbing, Þór, naïve',
  ])('nothing in %s is', text => expect(new Set(kinds(text))).toEqual(new Set(['plain'])));

  test('what is stacked on a letter is written out beyond four marks', () => {
    const stack = '\u0301\u0302\u0303\u0304\u0305\u0306\u0306';
    expect(escaped(`Sa${stack}m`)).toBe('Sa\u0301\u0302\u0303\u0304\\u0305\\u0306×2m');
    for (const honest of ['Việt'.normalize('NFD'), 'שָׁל֑וֹם', 'ที่นี่', 'བསྒྲུབས', 'ကျွန်ုပ်', 'ភាសាខ្មែរ']) {
      expect(kinds(honest), honest).toEqual(['plain']);
    }
  });
});

test('marks are bounded, and pieces between them are not', () => {
  const text = `${'a\u200b '.repeat(299)}b pаypal ѕаѕо c`;
  const most = bounded(piecesOf(text));
  expect(most.marked.filter(({ kind }) => kind !== 'plain')).toHaveLength(300);
  expect(most.marked.at(-1)).toEqual({ kind: 'plain', text: ' ' });
  expect(most.left).toBe(1);
  expect(most.rest).toBe('ѕаѕо c');
  const all = bounded(piecesOf(text.slice(0, -7)));
  expect(all).toMatchObject({ left: 0, rest: '' });
  expect(all.marked.at(-1)).toMatchObject({ kind: 'mixed', text: 'pаypal' });
});

describe('an edited input', () => {
  const input = readExactJson(
    '{"n":9007199254740993,"d":1.10,"s":"1","b":true,"o":{"x":1.0},"z":null}',
  );
  if (input.kind !== 'object') {
    throw new Error('no object');
  }
  const texts = ['9007199254740993', '1.10', '1', 'true', '{"x":1.0}', 'null'];
  const edited = (index: number, text: string) => editedInput(input, texts.with(index, text));

  test('keeps what was left alone, byte for byte', () => {
    expect(editedInput(input, texts)).toBe(input.text);
    expect(edited(2, 'a"')).toBe(input.text.replace('"1"', '"a\\""'));
    expect(edited(0, '5')).toContain('"n":5,"d":1.10');
  });

  test('takes each field for what it is', () => {
    expect(edited(0, '"5"')).toBe(0);
    expect(edited(0, '')).toBe(0);
    expect(edited(1, '1,5')).toBe(1);
    expect(edited(2, '5')).toContain('"s":"5"');
    expect(edited(3, 'yes')).toBe(3);
    expect(edited(4, '[1]')).toBe(4);
    expect(edited(5, '[1]')).toContain('"z":[1]');
  });
});

test('numbers of the journal keep their digits', () => {
  const value = parseExactly(
    '{"a":9007199254740993,"b":0.10000000000000000001,"c":1.50,"d":1e400}',
  );
  const { a, b, c } = value as Record<string, unknown>;
  expect(a).toBeInstanceOf(ExactNumber);
  expect(shown(a)).toBe('9007199254740993');
  expect(shown(b)).toBe('0.10000000000000000001');
  expect(c).toBe(1.5);
});

test('amounts are never rounded to be read', () => {
  expect(money('20', 'USD', 'en')).toBe('$20');
  expect(money('20.5', 'USD', 'en')).toBe('$20.50');
  expect(money('20.005', 'USD', 'en')).toBe('20.005 USD');
  expect(money('9007199254740993', 'USD', 'en')).toBe('9007199254740993 USD');
  expect(money('1', '\u202eUSD', 'en')).toBe('1 \\u202EUSD');
});

test('what a call does is said with its values escaped and kept apart', () => {
  const said = (tool: string, input: unknown, words = en.intent) =>
    intent(tool, exactOf(input), words, 'en');
  expect(said('process_payment', { amount: 20, recipient: 'Sam\nand Bob' })).toBe(
    'Send $20 to Sam\\nand Bob',
  );
  expect(said('get_weather', { location: 'שלום' })).toBe('Look up the weather in \u2068שלום\u2069');
  expect(said('constructor', {})).toBe('Run constructor');
  expect(said('process_payment', [500, 'Mallory'])).toBe('Send … to …');
  expect(said('process_payment', { amount: 1, recipient: 'x' }, ja.intent)).toBe('x に $1 を送金');
});

test('JSON is shown in lines, with what its strings hide', () => {
  const value = readExactJson('{"a":[1.0,"b\u202e\\n"],"__proto__":{}}');
  expect(pretty(value)).toBe(
    '{\n  "a": [\n    1.0,\n    "b\\u202E\\n"\n  ],\n  "__proto__": {}\n}',
  );
  expect(sizeOf('x'.repeat(52_018))).toBe('52 kB');
  expect(sizeOf('é')).toBe('2 B');
});
