import { useContext, useEffect, useRef } from 'react';
import { announce } from '../app/announcer.tsx';
import { LanguageContext, useWords } from '../language/language.ts';
import type { Message } from '../server/api.ts';
import { intent } from '../tools/intent.ts';
import { toolName, toolParts } from '../tools/toolParts.ts';

/** Longer answers are begun, and read on by whoever wants to. */
const LONGEST = 400;

/** Says to those who listen what others see: questions as they come up, and answers once they are whole. */
export function useAnnouncements(messages: Message[], isBusy: boolean): void {
  const words = useWords();
  const language = useContext(LanguageContext);
  const told = useRef(new Set<string>());
  const wasBusy = useRef(false);
  const last = messages.at(-1);

  useEffect(() => {
    const asked = last === undefined ? [] : toolParts(last);
    for (const part of asked) {
      if (part.state === 'approval-requested' && !told.current.has(part.approval.id)) {
        told.current.add(part.approval.id);
        const what = intent(toolName(part), part.input, words.intent, language);
        announce(words.approval.announced(`${what}.`));
        wasBusy.current = false;
        return;
      }
    }
    if (wasBusy.current && !isBusy && last?.role === 'assistant') {
      const text = last.parts.findLast(part => part.type === 'text');
      if (text !== undefined && text.text !== '') {
        announce(text.text.slice(0, LONGEST));
      }
    }
    wasBusy.current = isBusy;
  }, [last, isBusy, words, language]);
}
