import { useEffect, useState } from 'react';
import { readQuestions } from './server.ts';

const none: ReadonlyMap<string, string> = new Map();

/**
 * What the open approvals ask, by id.
 *
 * A stream that every release of the SDK reads has no room for the question, and a tool may ask
 * twice about one call: without the question, the second looks like the first.
 */
export function useQuestions(approvalIds: string[]): ReadonlyMap<string, string> {
  const [questions, setQuestions] = useState(none);
  const open = approvalIds.join(' ');

  useEffect(() => {
    if (open === '') {
      return;
    }
    let isGone = false;
    readQuestions().then(
      answer => {
        if (!isGone) {
          setQuestions(answer);
        }
      },
      // The card says in its own words what is about to happen.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [open]);

  return questions;
}
