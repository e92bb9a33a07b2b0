import { RotateCcw, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useWords } from '../language/language.ts';
import type { Problem } from '../server/problem.ts';
import { needsReload, problemWords } from '../server/problemWords.ts';

interface Props {
  problem: Problem;
  /** Whether it kept a message of the person from the server. */
  isUnsent?: boolean;
  onRetry: () => void;
  onReload: () => void;
}

/** What went wrong, and what to do about it. */
export function ProblemCard({ problem, isUnsent = false, onRetry, onReload }: Props) {
  const words = useWords().problem;
  const left = useCountdown(problem.retryAfter ?? 0);
  const isLimited = problem.code === 'rate_limited' && left > 0;
  const isOutdated = needsReload(problem);
  return (
    <div className="problem" role="alert">
      <TriangleAlert aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-alert" />
      <div className="min-w-0 flex-1">
        {/* Read out once, and not with every second. */}
        <p aria-live="off">
          {isLimited ? words.rate(left) : problemWords(problem, words)}
          {problem.code === 'network' && ` ${isUnsent ? words.unsent : words.unread}`}
        </p>
        {isOutdated ? (
          <button type="button" className="button mt-2" onClick={onReload}>
            <RotateCcw aria-hidden="true" />
            {words.load}
          </button>
        ) : (
          <button
            type="button"
            className="button mt-2 tabular-nums"
            disabled={isLimited}
            onClick={onRetry}
          >
            <RotateCcw aria-hidden="true" />
            {isLimited ? words.retryIn(left) : words.retry}
          </button>
        )}
      </div>
    </div>
  );
}

function useCountdown(seconds: number): number {
  const [until] = useState(() => performance.now() + seconds * 1000);
  const [now, setNow] = useState(() => performance.now());
  const left = Math.max(0, Math.ceil((until - now) / 1000));
  useEffect(() => {
    if (left > 0) {
      const timer = window.setTimeout(() => setNow(performance.now()), 250);
      return () => window.clearTimeout(timer);
    }
    return undefined;
  });
  return left;
}
