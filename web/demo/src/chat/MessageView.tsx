import {
  type Answered,
  type ApprovalAnswer,
  type QuestionAnswer,
  withoutRepeats,
} from '@adk-stream/client';
import { getToolName, isToolUIPart } from 'ai';
import { Ear } from 'lucide-react';
import { memo } from 'react';
import { Boundary } from '../app/Boundary.tsx';
import { useWords } from '../language/language.ts';
import type { Message } from '../server/api.ts';
import { ToolCard } from '../tools/ToolCard.tsx';
import type { CallContext } from '../tools/toolState.ts';
import { UnshownApproval } from '../tools/UnshownApproval.tsx';
import { FileView } from './FileView.tsx';
import { Prose } from './Prose.tsx';
import { Reasoning } from './Reasoning.tsx';
import { Said, UserMessage } from './UserMessage.tsx';

interface Props extends CallContext {
  message: Message;
  /** Whether its turn waits for somebody. */
  isParked: boolean;
  onAnswer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
}

/** One message: words, thoughts and calls in their order. */
export const MessageView = memo(function MessageView({ message, ...rest }: Props) {
  return (
    <Boundary of={message} instead={() => <Unshown />}>
      {message.role === 'user' ? (
        <UserMessage message={message} />
      ) : (
        <AgentMessage message={message} {...rest} />
      )}
    </Boundary>
  );
});

/** In place of what can't be shown. */
function Unshown() {
  const words = useWords();
  return (
    <p className="problem" role="alert">
      {words.unshown}
    </p>
  );
}

function AgentMessage({ message, isParked, onAnswer, ...context }: Props) {
  const words = useWords();
  const { isBusy, isBroken, isOpen } = context;
  const rail = isBusy ? 'streaming' : isParked ? 'parked' : 'settled';
  return (
    <article className={`message agent ${rail}`} aria-label={words.agent}>
      {withoutRepeats(message.parts).map((part, index) => (
        // Parts are only ever added at the end, so their place names them.
        <Boundary
          key={isToolUIPart(part) ? part.toolCallId : index}
          of={part}
          instead={() => <UnshownPart part={part} onAnswer={onAnswer} />}
        >
          <Part part={part} {...context} onAnswer={onAnswer} />
        </Boundary>
      ))}
      {isParked && <p className="beside-a-question text-sm text-amber">{words.waits}</p>}
      {!isBusy && !isBroken && !(isOpen && isParked) && <Ending message={message} />}
    </article>
  );
}

/** In place of a part that can't be shown: a question among them can be denied, and nothing else. */
function UnshownPart({ part, onAnswer }: Pick<PartProps, 'part' | 'onAnswer'>) {
  return isToolUIPart(part) && part.state === 'approval-requested' ? (
    <UnshownApproval
      tool={getToolName(part)}
      onDeny={() => onAnswer(part.approval.id, { approved: false })}
    />
  ) : (
    <Unshown />
  );
}

type PartProps = CallContext & { part: Message['parts'][number]; onAnswer: Props['onAnswer'] };

function Part({ part, onAnswer, ...context }: PartProps) {
  const { isBusy } = context;
  if (isToolUIPart(part)) {
    return <ToolCard part={part} {...context} onAnswer={onAnswer} />;
  }
  switch (part.type) {
    case 'text':
      if (isTranscript(part.providerMetadata)) {
        return <Transcript text={part.text} />;
      }
      return part.text === '' ? null : (
        <Prose text={part.text} isStreaming={isBusy && part.state !== 'done'} />
      );
    case 'reasoning':
      return part.text === '' ? null : (
        <Reasoning text={part.text} isStreaming={isBusy && part.state !== 'done'} />
      );
    case 'file':
      return <FileView file={part} />;
    case 'data-user-message':
      return <Injected message={part.data as Message} />;
    default:
      return null;
  }
}

/** What a person said in the middle of the answer, where the agent was given it. */
function Injected({ message }: { message: Message }) {
  const words = useWords();
  return (
    // biome-ignore lint/a11y/useSemanticElements: an article inside of another is a comment on it
    <div className="message user" role="group" aria-label={words.you}>
      <Said message={message} />
    </div>
  );
}

/** The transcript of the person's speech. */
function Transcript({ text }: { text: string }) {
  const words = useWords();
  return (
    <p className="bubble transcript self-end">
      <Ear aria-label={words.transcript} className="size-4 shrink-0" />
      {text}
    </p>
  );
}

function Ending({ message }: { message: Message }) {
  const words = useWords();
  if (message.metadata?.turn === 'stopped') {
    return <p className="text-sm text-soft">{words.stopped}</p>;
  }
  const isEmpty = message.parts.every(
    part => part.type === 'step-start' || (part.type === 'text' && part.text === ''),
  );
  return isEmpty ? <p className="text-sm text-soft">{words.silent}</p> : null;
}

function isTranscript(metadata: unknown): boolean {
  const { adkStream } = (metadata ?? {}) as { adkStream?: { transcript?: unknown } };
  return adkStream?.transcript === 'input';
}
