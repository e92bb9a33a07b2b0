import { isToolUIPart } from 'ai';
import { Reasoning } from './Reasoning.tsx';
import { Speech } from './Speech.tsx';
import type { Message } from './server.ts';
import { ToolCard } from './ToolCard.tsx';
import { toolParts } from './toolParts.ts';
import type { Standing } from './toolState.ts';

interface Props {
  message: Message;
  standing: Standing;
  questions: ReadonlyMap<string, string>;
  onAnswer: (approvalId: string, approved: boolean, reason: string) => void;
}

/** One message: words, thoughts and calls in their order. */
export function MessageView({ message, standing, questions, onAnswer }: Props) {
  const isUser = message.role === 'user';
  const isOver = !standing.isBusy && !standing.isBroken;
  const ending = isUser || !isOver ? undefined : endings(message);

  return (
    <article className={`message ${message.role}`} aria-label={isUser ? 'You' : 'Agent'}>
      {message.parts.map((part, index) => {
        // Parts are only ever added at the end, so their place names them.
        const key = index;
        if (part.type === 'text') {
          return <Speech key={key} text={part.text} />;
        }
        if (part.type === 'reasoning') {
          return <Reasoning key={key} text={part.text} isDone={part.state !== 'streaming'} />;
        }
        if (isToolUIPart(part)) {
          return (
            <ToolCard
              key={part.toolCallId}
              part={part}
              standing={standing}
              questions={questions}
              onAnswer={onAnswer}
            />
          );
        }
        return null;
      })}
      {ending !== undefined && <p className="note">{ending}</p>}
    </article>
  );
}

/** What is to be said of a turn that ended otherwise than with words. */
function endings(message: Message): string | undefined {
  // A turn that was written over is stopped too, and its card says so.
  const isDenied = toolParts(message).some(part => part.state === 'output-denied');
  if (message.metadata?.turn === 'stopped' && !isDenied) {
    return 'Stopped.';
  }
  return message.parts.every(part => part.type === 'step-start') ? 'No answer.' : undefined;
}
