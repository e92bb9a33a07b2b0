import { useContext, useMemo } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import { bounded, type Piece, piecesOf, written } from './spoofing.ts';

interface Props {
  text: string;
  /** Whether lines are broken where the text breaks them: after the mark. */
  hasLines?: boolean;
}

/**
 * A text that somebody else wrote, as it is: what is not to be seen is written out, words of several
 * scripts are marked, and its direction stays its own.
 */
export function UntrustedText({ text, hasLines = false }: Props) {
  const words = useWords().marks;
  const { marked, rest, left } = useMemo(() => bounded(piecesOf(text)), [text]);
  return (
    <bdi className="untrusted">
      {marked.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same text has the same pieces
        <PieceView key={index} piece={piece} hasLines={hasLines} />
      ))}
      {left > 0 && <span className="odd-note">({words.more(left)}) </span>}
      {rest}
    </bdi>
  );
}

function PieceView({ piece, hasLines }: { piece: Piece; hasLines: boolean }) {
  const words = useWords().marks;
  const language = useContext(LanguageContext);
  switch (piece.kind) {
    case 'plain':
      return piece.text;
    case 'hidden':
      return (
        <>
          <span className="hidden-character" title={words.hidden}>
            {written(piece)}
          </span>
          {hasLines && piece.text === '\\n' && <br />}
        </>
      );
    case 'mixed':
      return (
        <Marked
          text={piece.text}
          note={words.mixed(piece.scripts.map(it => nameOf(it, language)))}
        />
      );
    case 'rare':
      return (
        <Marked
          text={piece.text}
          note={words.rare(piece.scripts.map(it => nameOf(it, language)))}
        />
      );
    case 'lookalike':
      return <Marked text={piece.text} note={words.lookalike} />;
  }
}

function Marked({ text, note }: { text: string; note: string }) {
  return (
    <>
      <mark className="odd-word">{text}</mark> <span className="odd-note">({note})</span>
    </>
  );
}

function nameOf(script: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'script' }).of(script) ?? script;
  } catch {
    return script;
  }
}
