import {
  type Message,
  useAgent,
  useCopilotKit,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2';
import { type FormEvent, useEffect, useState } from 'react';
import { z } from 'zod';
import { Approval } from './Approval.tsx';
import { Question } from './Question.tsx';

const track = z.object({ track: z.number() });

export function Chat() {
  const { copilotkit } = useCopilotKit();
  const { agent } = useAgent();
  const [text, setText] = useState('');
  const [error, setError] = useState<Error>();

  // The stored messages, and the rest of the running turn.
  useEffect(() => {
    void copilotkit.connectAgent({ agent }).catch(setError);
  }, [copilotkit, agent]);

  // A tool that runs in the page.
  useFrontendTool({
    name: 'change_bgm',
    description: 'Plays a track.',
    parameters: track,
    handler: async ({ track }) => JSON.stringify({ success: true, track }),
  });

  // Questions of the agent: a run that answers them begins when all have an answer.
  const approvals = useInterrupt({
    renderInChat: false,
    render: ({ interrupts, resolve, cancel }) => (
      <>
        {interrupts.map(interrupt =>
          interrupt.reason === 'input_required' ? (
            <Question
              key={interrupt.id}
              interrupt={interrupt}
              onAnswer={resolve}
              onDecline={cancel}
            />
          ) : (
            <Approval key={interrupt.id} interrupt={interrupt} onAnswer={resolve} />
          ),
        )}
      </>
    ),
  });

  const send = (event: FormEvent) => {
    event.preventDefault();
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    setText('');
    void copilotkit.runAgent({ agent }).catch(setError);
  };

  return (
    <>
      {agent.messages.map(message => (
        <MessageView key={message.id} message={message} all={agent.messages} />
      ))}
      {approvals}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={event => setText(event.target.value)} />
        <button type="submit" disabled={agent.isRunning}>
          Send
        </button>
      </form>
    </>
  );
}

function MessageView({ message, all }: { message: Message; all: Message[] }) {
  if (message.role !== 'user' && message.role !== 'assistant') {
    return null;
  }
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return (
    <article aria-label={message.role}>
      {typeof message.content === 'string' && <p>{message.content}</p>}
      {calls.map(call => (
        <p key={call.id}>
          <code>{call.function.name}</code>: {resultOf(call.id, all) ?? 'open'}
        </p>
      ))}
    </article>
  );
}

function resultOf(toolCallId: string, messages: Message[]): string | undefined {
  const result = messages.find(it => it.role === 'tool' && it.toolCallId === toolCallId);
  return result?.role === 'tool' ? (result.error ?? `done ${result.content}`) : undefined;
}
