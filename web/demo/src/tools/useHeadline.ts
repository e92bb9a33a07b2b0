import { useContext } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import { intent, isKnown } from './intent.ts';

interface Asked {
  tool: string;
  input: unknown;
  /** What the server asks, where that is known. */
  question: string | undefined;
  /** Whether the tool itself asks, in the middle of its work. */
  isWithin: boolean;
}

/**
 * What is asked. Servers ask in the language of whoever wrote the tool; what the page knows how to say
 * in its own, it says. A tool that asks by itself knows better what it asks.
 */
export function useHeadline({ tool, input, question, isWithin }: Asked): string {
  const words = useWords();
  const language = useContext(LanguageContext);
  const own = words.approval.ask(intent(tool, input, words.intent, language));
  const isForeign = language !== 'en' && isKnown(tool) && !isWithin;
  return question === undefined || isForeign ? own : question;
}
