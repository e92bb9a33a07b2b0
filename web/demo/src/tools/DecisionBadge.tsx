import { useContext } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';

export type BadgeKind = 'open' | 'approved' | 'denied' | 'expired' | 'failed' | 'unknown';

interface Props {
  kind: BadgeKind;
  /** How much of the time is left, from 1 to 0; nothing where there is no limit. */
  left?: number | undefined;
}

const RADIUS = 30;
const ROUND = 2 * Math.PI * RADIUS;

/**
 * The outline of a badge on an open approval card, and the badge once there is a decision. Screen readers get the
 * same from the name of the card.
 */
export function DecisionBadge({ kind, left }: Props) {
  const words = useWords();
  const isJapanese = useContext(LanguageContext) === 'ja';
  if (kind === 'open') {
    return (
      <svg className="decision-badge open" viewBox="0 0 72 72" aria-hidden="true">
        <circle className="place" cx="36" cy="36" r={RADIUS} />
        {left !== undefined && (
          <circle
            className="time"
            cx="36"
            cy="36"
            r={RADIUS}
            strokeDasharray={`${ROUND * left} ${ROUND}`}
            transform="rotate(-90 36 36)"
          />
        )}
      </svg>
    );
  }
  const text = words.approval.badge[kind];
  return (
    <svg className={`decision-badge ${kind}`} viewBox="0 0 72 72" aria-hidden="true">
      <circle cx="36" cy="36" r="31" />
      <circle className="inner" cx="36" cy="36" r="27" />
      {isJapanese ? (
        <text className="kanji" x="36" y="44">
          {text}
        </text>
      ) : (
        <text x="36" y="39.2" textLength="44" lengthAdjust="spacingAndGlyphs">
          {text}
        </text>
      )}
    </svg>
  );
}
