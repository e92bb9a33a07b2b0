import { ChevronRight } from 'lucide-react';
import { useWords } from '../language/language.ts';

interface Props {
  text: string;
  isStreaming: boolean;
}

/** The agent's reasoning, folded: it opens on request, and nothing jumps. */
export function Reasoning({ text, isStreaming }: Props) {
  const words = useWords();
  return (
    <details className="reasoning">
      <summary>
        <ChevronRight aria-hidden="true" />
        <span className={isStreaming ? 'shimmer' : undefined}>
          {isStreaming ? words.thinking : words.thought}
        </span>
      </summary>
      <p>{text}</p>
    </details>
  );
}
