import { ChevronRight } from 'lucide-react';
import { useWords } from '../language/language.ts';

interface Props {
  text: string;
  isStreaming: boolean;
}

/** What the agent thought, folded: whoever wants to know opens it, and nothing jumps. */
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
