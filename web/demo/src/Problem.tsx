interface Props {
  words: string;
  onRetry?: () => void;
}

/** What went wrong, and the way to try again, where there is one. */
export function Problem({ words, onRetry }: Props) {
  return (
    <div className="problem" role="alert">
      <p>{words}</p>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}
