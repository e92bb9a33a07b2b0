import type { Answered } from '@adk-stream/client';
import { TriangleAlert, X } from 'lucide-react';
import { useState } from 'react';
import { useWords } from '../language/language.ts';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { escaped } from './spoofing.ts';

interface Props {
  tool: string;
  onDeny: () => Promise<Answered>;
}

/** In place of a question that can't be shown: it can be denied, and not approved. */
export function UnshownApproval({ tool, onDeny }: Props) {
  const words = useWords();
  const [note, setNote] = useState<string>();
  const deny = () => {
    setNote(words.approval.sending);
    onDeny().then(
      ({ isOurs, decision }) =>
        setNote(isOurs ? undefined : words.approval.elsewhere(decision.decidedBy ?? '?')),
      (error: unknown) => setNote(problemWords(problemOf(error), words.problem)),
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out like this everywhere
    <div
      role="group"
      className="approval"
      aria-label={`${escaped(tool).slice(0, 80)}: ${words.tool.asked}`}
    >
      <p className="flex gap-2">
        <TriangleAlert aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-alert" />
        {words.approval.unshown}
      </p>
      <div className="flex items-center gap-2">
        <button type="button" className="button" onClick={deny}>
          <X aria-hidden="true" />
          {words.approval.deny}
        </button>
        <span className="text-sm text-soft" role="status">
          {note}
        </span>
      </div>
    </div>
  );
}
