import type { ChatStatus } from 'ai';
import { MessageView } from './MessageView.tsx';
import type { Message } from './server.ts';
import { toolParts } from './toolParts.ts';
import { useQuestions } from './useQuestions.ts';

interface Props {
  messages: Message[];
  status: ChatStatus;
  onAnswer: (approvalId: string, approved: boolean, reason: string) => void;
}

/** Everything that was said and done, oldest first. */
export function Conversation({ messages, status, onAnswer }: Props) {
  const last = messages.at(-1);
  const asked = last === undefined ? [] : toolParts(last).filter(isAsked);
  const questions = useQuestions(asked.map(part => part.approval.id));
  const isBusy = status === 'submitted' || status === 'streaming';
  const isSilent = isBusy && (last?.role !== 'assistant' || !last.parts.some(isShown));

  return (
    <section className="conversation" role="log" aria-label="Conversation" aria-busy={isBusy}>
      {messages.map((message, index) => (
        <MessageView
          key={message.id}
          message={message}
          standing={{
            isOpen: message === last && message.metadata?.turn !== 'stopped',
            isBusy: message === last && isBusy,
            isBroken: message === last && status === 'error',
            isAsking: message === last && asked.length > 0,
            hasSequel: messages[index + 1]?.role === 'assistant',
          }}
          questions={questions}
          onAnswer={onAnswer}
        />
      ))}
      {isSilent && (
        <p className="waiting">
          <span className="unseen">The agent is answering</span>
        </p>
      )}
    </section>
  );
}

const isAsked = (part: ReturnType<typeof toolParts>[number]) => part.state === 'approval-requested';

const isShown = (part: Message['parts'][number]) => part.type !== 'step-start';
