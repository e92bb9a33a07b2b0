import { useContext, useMemo } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import { type Piece, piecesOf } from './spoofing.ts';

interface Props {
  text: string;
  /** Whether lines are broken where the text breaks them: after the mark. */
  hasLines?: boolean;
}

/** More marks than that say nothing more, and cost. */
const MOST_MARKS = 300;

/**
 * A text that somebody else wrote, as it is: what is not to be seen is written out, words of several
 * scripts are marked, and its direction stays its own.
 */
export function UntrustedText({ text, hasLines = false }: Props) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  const marked = pieces.slice(0, MOST_MARKS);
  const rest = pieces.slice(MOST_MARKS);
  return (
    <bdi className="untrusted">
      {marked.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same text has the same pieces
        <PieceView key={index} piece={piece} hasLines={hasLines} />
      ))}
      {rest.map(({ text }) => text).join('')}
    </bdi>
  );
}

function PieceView({ piece, hasLines }: { piece: Piece; hasLines: boolean }) {
  const words = useWords().marks;
  const language = useContext(LanguageContext);
  switch (piece.kind) {
    case 'plain':
      return piece.text;
    case 'hidden': {
      const count = piece.times > 1 ? `×${piece.times}` : '';
      return (
        <>
          <span className="hidden-character" title={words.hidden}>
            {piece.text}
            {count}
          </span>
          {hasLines && piece.text === '\\n' && <br />}
        </>
      );
    }
    case 'mixed':
      return (
        <Marked
          text={piece.text}
          note={words.mixed(piece.scripts.map(it => nameOf(it, language)))}
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
