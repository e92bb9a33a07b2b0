import type { Answered, ApprovalAnswer, QuestionAnswer } from '@adk-stream/client';
import type { ChatStatus } from 'ai';
import { useWords } from '../language/language.ts';
import type { Message } from '../server/api.ts';
import { toolParts } from '../tools/toolParts.ts';
import { MessageView } from './MessageView.tsx';

interface Props {
  messages: Message[];
  status: ChatStatus;
  onAnswer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
}

/** Everything that was said and done, oldest first. */
export function Conversation({ messages, status, onAnswer }: Props) {
  const words = useWords();
  const last = messages.at(-1);
  const isBusy = status === 'submitted' || status === 'streaming';
  const isSilent = isBusy && (last?.role !== 'assistant' || !last.parts.some(isShown));
  const isWaiting =
    !isBusy && last !== undefined && last.metadata?.turn !== 'stopped' && waits(last);

  return (
    // What streams is not read out word by word: the announcer says what matters.
    <section
      className="conversation"
      role="log"
      aria-label={words.conversation}
      aria-busy={isBusy}
      aria-live="off"
    >
      {messages.map(message => (
        <MessageView
          key={message.id}
          message={message}
          isOpen={message === last && message.metadata?.turn !== 'stopped'}
          isBusy={message === last && isBusy}
          isBroken={message === last && status === 'error'}
          isParked={message === last && isWaiting}
          onAnswer={onAnswer}
        />
      ))}
      {isSilent && (
        <p className="message agent streaming dots">
          <span className="sr-only">{words.answering}</span>
        </p>
      )}
    </section>
  );
}

const isShown = (part: Message['parts'][number]) => part.type !== 'step-start';

const waits = (message: Message) =>
  toolParts(message).some(part => part.state === 'approval-requested');
