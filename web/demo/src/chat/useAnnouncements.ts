import { useEffect, useRef } from 'react';
import { announce } from '../app/announcer.tsx';
import type { Message } from '../server/api.ts';
import { toolParts } from '../tools/toolParts.ts';

/** Longer answers are announced by their beginning. */
const LONGEST = 400;

/** Says answers to those who listen, once they are whole. Questions are announced by their cards. */
export function useAnnouncements(messages: Message[], isBusy: boolean): void {
  const last = messages.at(-1);
  // What was there when the page opened is not announced.
  const known = useRef(last && answerIn(last));

  useEffect(() => {
    if (isBusy || last?.role !== 'assistant') {
      return;
    }
    const answer = answerIn(last);
    const isAsking = toolParts(last).some(({ state }) => state === 'approval-requested');
    // An answer may also come at once, without having been streamed here.
    if (answer !== known.current && answer !== '' && !isAsking) {
      announce(answer.slice(0, LONGEST));
    }
    known.current = answer;
  }, [last, isBusy]);
}

function answerIn(message: Message): string {
  const text = message.parts.findLast(part => part.type === 'text');
  return text?.text ?? '';
}
