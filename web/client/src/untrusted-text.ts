/**
 * What a text hides from its reader: characters that are not seen or that turn the direction of
 * others, and words that may read as others. Each word is judged by itself, as the "highly restrictive"
 * level of Unicode Technical Standard 39 judges identifiers: letters of one script, or of those that are
 * written together; of a script in everyday use; and none that stand for others (mathematical,
 * fullwidth). The standard's table of confusable characters is not here: of Cyrillic, Greek and Armenian,
 * words of letters that look Latin are marked by a list of ours, and so are letters of Latin itself that
 * look like others. Of punctuation, what is not in everyday use is marked beside ASCII letters and digits.
 */

export type UntrustedPiece =
  | { kind: 'plain'; text: string }
  /** Something that is not to be seen, written as an escape; `times` in a row. */
  | { kind: 'hidden'; text: string; times: number }
  /** A word with letters of several scripts, named by their codes. */
  | { kind: 'mixed'; text: string; scripts: string[] }
  /** A word of a script that hardly anybody writes, and whose letters look like others. */
  | { kind: 'rare'; text: string; scripts: string[] }
  /** A word of other letters that reads as one of Latin letters. */
  | { kind: 'lookalike'; text: string }
  /** A sign that reads as one of ASCII, or as none that is in use. */
  | { kind: 'sign'; text: string };

/** A family or a flag is one picture, joined by what is else not to be seen. */
const picture =
  '\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?(?:\\u200D\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)*';
/** Controls, formats, separators, private, unassigned, half and ignorable; spaces but two. */
const hiddenClass = '(?![ \\u3000])[\\p{C}\\p{Zl}\\p{Zp}\\p{Zs}\\p{Default_Ignorable_Code_Point}]';
const edgeSpace = '^ +| +$';

/** Marks that are drawn over each other, and cover the lines around them. */
const stack = '((?:(?!\\p{Default_Ignorable_Code_Point})[\\p{Mn}\\p{Me}]){5,})';
/** How many of them a letter may have. */
const MOST_STACKED = 4;

const pieces = new RegExp(`(${picture})|(${hiddenClass}|${edgeSpace})|${stack}`, 'gu');
const word = /[\p{L}\p{M}\p{N}]+|(?![ -~])[\p{P}\p{S}]/gu;
const ascii = /^[\x20-\x7e]*$/;

/** Cuts a text into what is as it seems and what is not. */
export function untrustedPieces(text: string): UntrustedPiece[] {
  if (ascii.test(text) && !text.startsWith(' ') && !text.endsWith(' ')) {
    return text === '' ? [] : [{ kind: 'plain', text }];
  }
  const found: UntrustedPiece[] = [];
  let at = 0;
  for (const match of text.matchAll(pieces)) {
    if (match[2] !== undefined) {
      addWords(found, text.slice(at, match.index));
      addHidden(found, match[2]);
      at = match.index + match[0].length;
    } else if (match[3] !== undefined) {
      const marks = [...match[3]];
      const shown = marks.slice(0, MOST_STACKED).join('').length;
      addWords(found, text.slice(at, match.index + shown));
      for (const mark of marks.slice(MOST_STACKED)) {
        addHidden(found, mark);
      }
      at = match.index + match[0].length;
    }
  }
  addWords(found, text.slice(at));
  return found;
}

/** The same as plain text, for where there is no room for marks. */
export function escapeUntrusted(text: string): string {
  return untrustedPieces(text).map(untrustedPieceText).join('');
}

/** A piece without its mark. */
export function untrustedPieceText(piece: UntrustedPiece): string {
  return piece.kind === 'hidden' && piece.times > 1 ? `${piece.text}×${piece.times}` : piece.text;
}

/** More marks than that say nothing more, and cost. */
const MOST_MARKS = 300;

/** Pieces up to the most marks, what comes after them without marks, and how many those would be. */
export function boundedPieces(pieces: UntrustedPiece[]): {
  marked: UntrustedPiece[];
  rest: string;
  left: number;
} {
  const marks = pieces.flatMap(({ kind }, index) => (kind === 'plain' ? [] : [index]));
  const end = marks[MOST_MARKS] ?? pieces.length;
  return {
    marked: pieces.slice(0, end),
    rest: pieces.slice(end).map(untrustedPieceText).join(''),
    left: Math.max(0, marks.length - MOST_MARKS),
  };
}

function addHidden(found: UntrustedPiece[], characters: string): void {
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

function addWords(found: UntrustedPiece[], text: string): void {
  let at = 0;
  const plain = (to: number) => {
    if (to > at) {
      addPlain(found, text.slice(at, to));
    }
  };
  const parts = [...text.matchAll(word)];
  const words = parts.filter(([part]) => !isSign(part));
  const isTurkish = words.some(([letters]) => turkish.test(letters));
  let number = 0;
  for (const { 0: letters, index } of parts) {
    let odd: UntrustedPiece | undefined;
    if (isSign(letters)) {
      const before = lastOf(text.slice(Math.max(0, index - 2), index));
      odd = oddSign(letters, before, firstOf(text.slice(index + letters.length)));
    } else {
      odd = oddWord(letters, [words[number - 1]?.[0], words[number + 1]?.[0]], isTurkish);
      number += 1;
    }
    if (odd !== undefined) {
      plain(index);
      found.push(odd);
      at = index + letters.length;
    }
  }
  plain(text.length);
}

/** Whether a part is one sign, and no word. */
const isSign = (part: string) => /^[\p{P}\p{S}]/u.test(part);

const firstOf = (text: string) => /^./su.exec(text)?.[0] ?? '';
const lastOf = (text: string) => [...text].at(-1) ?? '';

/** Signs that people write beside ASCII letters and digits, and that read as nothing else. */
const everydaySign =
  /^(?:[“”‘’„‟«»‹›–—―‐‑…•·§¶¿¡‰†‡′″、-〿・～।॥،؛؟٪÷×±−≈≤≥≠∞√∑∂←-↓→↔⇒¬´¨¯]|\p{Sc}|\p{So}|\p{Emoji_Modifier})$/u;
/** Signs of other widths and shapes, which stand for ASCII ones. */
const asciiSign = /^[!-/:-@[-`{-~]+$/;
const cjk =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}、-〿！-～]/u;

/** What is to be said of a sign, given the characters beside it. */
function oddSign(text: string, before: string, after: string): UntrustedPiece | undefined {
  const isBeside = [before, after].some(it => /^[A-Za-z0-9]$/.test(it));
  const meant = text.normalize('NFKC');
  if (!isBeside) {
    return undefined;
  }
  if (text !== '…' && text !== '～' && meant !== text && asciiSign.test(meant)) {
    // In a text of Chinese, Japanese or Korean, it is the usual one.
    return cjk.test(before) || cjk.test(after) ? undefined : { kind: 'sign', text };
  }
  // It opens a quotation in German; behind a letter or a digit, it reads as a comma.
  const isOdd = text === '‚' ? /^[A-Za-z0-9]$/.test(before) : !everydaySign.test(text);
  return isOdd ? { kind: 'sign', text } : undefined;
}

/** What is to be said of a word, given those beside it. */
function oddWord(
  text: string,
  beside: (string | undefined)[],
  isTurkish: boolean,
): UntrustedPiece | undefined {
  if (ascii.test(text)) {
    return undefined;
  }
  const codes = scriptsOf(text);
  if (isMixed(codes)) {
    return { kind: 'mixed', text, scripts: [...codes] };
  }
  if ([...codes].some(code => !everyday.has(code))) {
    return { kind: 'rare', text, scripts: [...codes] };
  }
  return isLookalike(text, beside, isTurkish) ? { kind: 'lookalike', text } : undefined;
}

function addPlain(found: UntrustedPiece[], text: string): void {
  const last = found.at(-1);
  if (last?.kind === 'plain') {
    last.text += text;
  } else {
    found.push({ kind: 'plain', text });
  }
}

/** Scripts in everyday use, as Unicode recommends them for identifiers (UAX 31, table 5). */
const everyday = new Map(
  Object.entries({
    Latn: /\p{Script=Latin}/u,
    Cyrl: /\p{Script=Cyrillic}/u,
    Grek: /\p{Script=Greek}/u,
    Armn: /\p{Script=Armenian}/u,
    Hebr: /\p{Script=Hebrew}/u,
    Arab: /\p{Script=Arabic}/u,
    Hani: /\p{Script=Han}/u,
    Hira: /\p{Script=Hiragana}/u,
    Kana: /\p{Script=Katakana}/u,
    Hang: /\p{Script=Hangul}/u,
    Bopo: /\p{Script=Bopomofo}/u,
    Beng: /\p{Script=Bengali}/u,
    Deva: /\p{Script=Devanagari}/u,
    Ethi: /\p{Script=Ethiopic}/u,
    Geor: /\p{Script=Georgian}/u,
    Gujr: /\p{Script=Gujarati}/u,
    Guru: /\p{Script=Gurmukhi}/u,
    Khmr: /\p{Script=Khmer}/u,
    Knda: /\p{Script=Kannada}/u,
    Laoo: /\p{Script=Lao}/u,
    Mlym: /\p{Script=Malayalam}/u,
    Mymr: /\p{Script=Myanmar}/u,
    Orya: /\p{Script=Oriya}/u,
    Sinh: /\p{Script=Sinhala}/u,
    Taml: /\p{Script=Tamil}/u,
    Telu: /\p{Script=Telugu}/u,
    Thaa: /\p{Script=Thaana}/u,
    Thai: /\p{Script=Thai}/u,
    Tibt: /\p{Script=Tibetan}/u,
  }),
);
/** Others, to be named. All that are not here are "unknown". */
const rare = new Map(
  Object.entries({
    Cans: /\p{Script=Canadian_Aboriginal}/u,
    Cher: /\p{Script=Cherokee}/u,
    Copt: /\p{Script=Coptic}/u,
    Dsrt: /\p{Script=Deseret}/u,
    Goth: /\p{Script=Gothic}/u,
    Lisu: /\p{Script=Lisu}/u,
    Tfng: /\p{Script=Tifinagh}/u,
    Vaii: /\p{Script=Vai}/u,
  }),
);
/** By the codes of ISO 15924, which browsers know names for. */
const scripts = [...everyday, ...rare];
const common = /[\p{Script=Common}\p{Script=Inherited}]/u;
/** Letters for formulas, which read as Latin and are none. */
const formula = /[\u{1D400}-\u{1D7FF}]/u;

/** What is written together in Japanese, Chinese and Korean, Latin included. */
const together = ['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang'].map(
  codes => new Set(codes.split(' ')),
);

/** The scripts of a word, with codes of their own for letters of formulas and for mixed digits. */
function scriptsOf(letters: string): Set<string> {
  const codes = new Set<string>();
  for (const character of letters) {
    if (formula.test(character)) {
      codes.add('Zmth');
    } else if (/\p{Nd}/u.test(character)) {
      // Digits of another script are as they seem, but not beside the common ones.
      if (!/[0-9]/.test(character) && /[0-9]/.test(letters)) {
        codes.add('Zyyy');
      }
    } else if (!common.test(character)) {
      codes.add(scripts.find(([, of]) => of.test(character))?.[0] ?? 'Zzzz');
    }
  }
  return codes;
}

/** Whether scripts are not written together anywhere. */
function isMixed(codes: Set<string>): boolean {
  return (
    codes.has('Zmth') ||
    codes.has('Zyyy') ||
    (codes.size > 1 && !together.some(set => [...codes].every(code => set.has(code))))
  );
}

/** Letters of Latin that look like others of it: of phonetic writing, and clicks. */
const likeOthers = /[ɑɡȷɩǀǃɢɪɴʀʏʙʜʟᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜰꜱ]/u;
/** The letter of Turkish and Azerbaijani, which is as it seems in a text of theirs. */
const dotless = /ı/;
const turkish = /[ğĞşŞİ]/;

/** Letters of Cyrillic, Greek and Armenian that look like Latin ones. */
const likeLatin = /^[АВЕЅІӀЈКМНОРСТХҮаеѕіјорсухһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυҺԌԚԜՏՕսօհոց\p{M}0-9]+$/u;
const notLatin = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u;
/** Fullwidth letters, small capitals and the like; but not the ordinals of Spanish. */
const standIn = /(?![ªº])[\p{L}\p{Nd}\p{Nl}]/u;

/**
 * Whether a word reads as one of Latin letters, and is none. A single letter is a word in many languages:
 * it is as it seems beside a word of its script that reads as nothing else.
 */
function isLookalike(text: string, beside: (string | undefined)[], isTurkish: boolean): boolean {
  if (likeOthers.test(text) || (dotless.test(text) && !isTurkish)) {
    return true;
  }

  for (const character of text) {
    const meant = character.normalize('NFKC');
    if (meant !== character && standIn.test(character) && /^[A-Za-z0-9]+$/.test(meant)) {
      return true;
    }
  }
  if (!notLatin.test(text) || !likeLatin.test(text)) {
    return false;
  }
  const isHonest = (other: string | undefined) =>
    other !== undefined &&
    !likeLatin.test(other) &&
    [...scriptsOf(text)].join() === [...scriptsOf(other)].join();
  return [...text].length > 1 || !beside.some(isHonest);
}
