import { getToolName } from 'ai';
import { useRef } from 'react';
import { Approval } from './Approval.tsx';
import { Fields } from './Fields.tsx';
import { Output } from './Output.tsx';
import { isPending } from './output.ts';
import type { ToolPart } from './toolParts.ts';
import { type Standing, toolState } from './toolState.ts';
import { intent } from './toolWords.ts';

interface Props {
  part: ToolPart;
  standing: Standing;
  questions: ReadonlyMap<string, string>;
  onAnswer: (approvalId: string, approved: boolean, reason: string) => void;
}

/** One call: what is to be done, how it stands, and, where it waits for a person, the question. */
export function ToolCard({ part, standing, questions, onAnswer }: Props) {
  const card = useRef<HTMLElement>(null);
  const tool = getToolName(part);
  const { word, note } = toolState(part, standing);
  const approval =
    word === 'asked' && part.state === 'approval-requested' ? part.approval : undefined;
  const question = approval && questions.get(approval.id);

  return (
    <section className={`tool ${word}`} aria-label={`${tool}: ${word}`} ref={card} tabIndex={-1}>
      <header>
        <h3>{question ?? intent(tool, part.input)}</h3>
        <span className="word">{word}</span>
      </header>
      <Fields tool={tool} input={part.input} />
      {note !== undefined && <p className="note">{note}</p>}
      {part.state === 'output-available' && !isPending(part.output) && (
        <Output output={part.output} input={part.input} />
      )}
      {approval !== undefined && (
        <Approval
          key={approval.id}
          onAnswer={(approved, reason) => {
            // The button that has the focus goes; the card is where the story goes on.
            card.current?.focus({ preventScroll: true });
            onAnswer(approval.id, approved, reason);
          }}
        />
      )}
    </section>
  );
}
