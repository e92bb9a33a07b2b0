/**
 * What a text hides from whoever reads it: characters that are not seen or that turn the direction of
 * others, and words whose letters come from several scripts (Unicode Technical Standard 39, in the
 * sense of its "highly restrictive" level).
 */

export type Piece =
  | { kind: 'plain'; text: string }
  /** Something that is not to be seen, written as an escape; `times` in a row. */
  | { kind: 'hidden'; text: string; times: number }
  /** A word with letters of several scripts, named by their codes. */
  | { kind: 'mixed'; text: string; scripts: string[] }
  /** A word of another script that reads as one of Latin letters. */
  | { kind: 'lookalike'; text: string };

/** A family or a flag is one picture, joined by what is else not to be seen. */
const picture =
  '\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?(?:\\u200D\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)*';
/** Controls, formats, separators, private, unassigned, half and ignorable; spaces but two. */
const hiddenClass = '(?![ \\u3000])[\\p{C}\\p{Zl}\\p{Zp}\\p{Zs}\\p{Default_Ignorable_Code_Point}]';
const edgeSpace = '^ +| +$';

const pieces = new RegExp(`(${picture})|(${hiddenClass}|${edgeSpace})`, 'gu');
const word = /[\p{L}\p{M}\p{N}]+/gu;
const ascii = /^[\x20-\x7e]*$/;

/** Cuts a text into what is as it seems and what is not. */
export function piecesOf(text: string): Piece[] {
  if (ascii.test(text) && !text.startsWith(' ') && !text.endsWith(' ')) {
    return text === '' ? [] : [{ kind: 'plain', text }];
  }
  const found: Piece[] = [];
  const lookalike = lookalikesIn(text);
  let at = 0;
  for (const match of text.matchAll(pieces)) {
    if (match[2] !== undefined) {
      addWords(found, text.slice(at, match.index), lookalike);
      addHidden(found, match[2]);
      at = match.index + match[0].length;
    }
  }
  addWords(found, text.slice(at), lookalike);
  return found;
}

/** The same as plain text, for where there is no room for marks. */
export function escaped(text: string): string {
  return piecesOf(text)
    .map(piece =>
      piece.kind === 'hidden' && piece.times > 1 ? `${piece.text}×${piece.times}` : piece.text,
    )
    .join('');
}

function addHidden(found: Piece[], characters: string): void {
  const text = escapeOf(characters[0] === ' ' ? ' ' : characters);
  const times = characters[0] === ' ' ? characters.length : 1;
  const last = found.at(-1);
  if (last?.kind === 'hidden' && last.text === text) {
    last.times += times;
  } else {
    found.push({ kind: 'hidden', text, times });
  }
}

const shortEscapes = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  [' ', '␣'],
]);

function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  const long = code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  return shortEscapes.get(character) ?? long;
}

function addWords(found: Piece[], text: string, isLookalike: (word: string) => boolean): void {
  let at = 0;
  const plain = (to: number) => {
    if (to > at) {
      addPlain(found, text.slice(at, to));
    }
  };
  for (const { 0: letters, index } of text.matchAll(word)) {
    const scripts = mixOf(letters);
    if (scripts !== undefined || isLookalike(letters)) {
      plain(index);
      found.push(
        scripts === undefined
          ? { kind: 'lookalike', text: letters }
          : { kind: 'mixed', text: letters, scripts },
      );
      at = index + letters.length;
    }
  }
  plain(text.length);
}

function addPlain(found: Piece[], text: string): void {
  const last = found.at(-1);
  if (last?.kind === 'plain') {
    last.text += text;
  } else {
    found.push({ kind: 'plain', text });
  }
}

/** By the codes of ISO 15924, which browsers know names for. */
const scripts: readonly (readonly [code: string, letters: RegExp])[] = [
  ['Latn', /\p{Script=Latin}/u],
  ['Cyrl', /\p{Script=Cyrillic}/u],
  ['Grek', /\p{Script=Greek}/u],
  ['Armn', /\p{Script=Armenian}/u],
  ['Hebr', /\p{Script=Hebrew}/u],
  ['Arab', /\p{Script=Arabic}/u],
  ['Hani', /\p{Script=Han}/u],
  ['Hira', /\p{Script=Hiragana}/u],
  ['Kana', /\p{Script=Katakana}/u],
  ['Hang', /\p{Script=Hangul}/u],
  ['Bopo', /\p{Script=Bopomofo}/u],
  ['Deva', /\p{Script=Devanagari}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Geor', /\p{Script=Georgian}/u],
  ['Cher', /\p{Script=Cherokee}/u],
  ['Copt', /\p{Script=Coptic}/u],
  ['Lisu', /\p{Script=Lisu}/u],
];
const common = /[\p{Script=Common}\p{Script=Inherited}]/u;
/** Letters for formulas, which read as Latin and are none. */
const formula = /[\u{1D400}-\u{1D7FF}]/u;

/** What is written together in Japanese, Chinese and Korean, Latin included. */
const together = ['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang'].map(
  codes => new Set(codes.split(' ')),
);

/** The scripts of a word, where they are not written together anywhere. */
function mixOf(letters: string): string[] | undefined {
  if (ascii.test(letters)) {
    return undefined;
  }
  const codes = new Set<string>();
  for (const character of letters) {
    if (formula.test(character)) {
      codes.add('Zmth');
    } else if (/\p{Nd}/u.test(character) && !/[0-9]/.test(character)) {
      codes.add('digits');
    } else if (!common.test(character)) {
      codes.add(scripts.find(([, of]) => of.test(character))?.[0] ?? 'Zzzz');
    }
  }
  if (codes.has('digits')) {
    // Digits of another script are as they seem, but not beside the common ones.
    codes.delete('digits');
    if (/[0-9]/.test(letters)) {
      codes.add('Zyyy');
    }
  }
  const isMixed =
    codes.has('Zmth') ||
    codes.has('Zyyy') ||
    (codes.size > 1 && !together.some(set => [...codes].every(code => set.has(code))));
  return isMixed ? [...codes] : undefined;
}

/** Letters of Cyrillic, Greek and Armenian that can't be told from Latin ones. */
const likeLatin = /^[АВЕЅІЈКМНОРСТХҮаеѕіјорсухһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυҺԌԚԜՏՕսօհոց\p{M}0-9]+$/u;
const notLatin = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u;

/**
 * Whether a word is one of those that only look Latin. Where the same text has words that do not, it is
 * written in that script, and short words of it are as they seem.
 */
function lookalikesIn(text: string): (word: string) => boolean {
  const foreign = (text.match(word) ?? []).filter(letters => notLatin.test(letters));
  const isAll = foreign.length > 0 && foreign.every(letters => likeLatin.test(letters));
  return letters => isAll && notLatin.test(letters);
}
