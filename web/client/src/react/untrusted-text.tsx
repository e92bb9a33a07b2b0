import { type ReactElement, useMemo } from 'react';
import {
  boundedPieces,
  type UntrustedPiece,
  untrustedPieces,
  untrustedPieceText,
} from '../untrusted-text.ts';
import { useParts } from './parts-context.tsx';

export type UntrustedTextProps = {
  text: string;
  /** Whether lines are broken where the text breaks them: after the mark. */
  hasLines?: boolean;
};

/**
 * A text that somebody else wrote, as it is: what is not to be seen is written out, words of several
 * scripts are marked, and its direction stays its own.
 */
export function UntrustedText({ text, hasLines = false }: UntrustedTextProps): ReactElement {
  const { part, labels } = useParts();
  const { marked, rest, left } = useMemo(() => boundedPieces(untrustedPieces(text)), [text]);
  return (
    <bdi {...part('untrusted')}>
      {marked.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same text has the same pieces
        <PieceView key={index} piece={piece} hasLines={hasLines} />
      ))}
      {left > 0 && <span {...part('odd-note')}>({labels.marks.more(left)}) </span>}
      {rest}
    </bdi>
  );
}

function PieceView({ piece, hasLines }: { piece: UntrustedPiece; hasLines: boolean }) {
  const { part, labels, language } = useParts();
  const words = labels.marks;
  const names = (scripts: readonly string[]) => scripts.map(it => nameOf(it, language));
  switch (piece.kind) {
    case 'plain':
      return piece.text;
    case 'hidden':
      return (
        <>
          <span {...part('hidden-character')} title={words.hidden}>
            {untrustedPieceText(piece)}
          </span>
          {hasLines && piece.text === '\\n' && <br />}
        </>
      );
    case 'mixed':
      return <Marked text={piece.text} note={words.mixed(names(piece.scripts))} />;
    case 'rare':
      return <Marked text={piece.text} note={words.rare(names(piece.scripts))} />;
    case 'lookalike':
      return <Marked text={piece.text} note={words.lookalike} />;
    case 'sign':
      return <Marked text={piece.text} note={words.sign(codeOf(piece.text))} />;
  }
}

function Marked({ text, note }: { text: string; note: string }) {
  const { part } = useParts();
  return (
    <>
      <mark {...part('odd-word')}>{text}</mark> <span {...part('odd-note')}>({note})</span>
    </>
  );
}

/** As Unicode names a character. */
function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function nameOf(script: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'script' }).of(script) ?? script;
  } catch {
    return script;
  }
}

/** The name of a field: as it is, and where the page has a word for it, that before it. */
export function FieldName({ name }: { name: string }): ReactElement {
  const { wordFor } = useParts();
  const word = wordFor(name);
  return (
    <>
      {word !== undefined && `${word} `}
      <UntrustedText text={readable(name)} />
    </>
  );
}

/** A name as people read it; one that is not written as names are, as it is. */
function readable(name: string): string {
  return /^[a-z\d]+(?:_[a-z\d]+)*$/.test(name) ? name.replaceAll('_', ' ') : name;
}
