import { answerQuestion, declineQuestion, questionOf } from '@adk-stream/client';
import { QuestionForm, UntrustedText } from '@adk-stream/client/react/parts';
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses as isAnswered,
  lastAssistantMessageIsCompleteWithToolCalls as isComplete,
  type UIMessage,
} from 'ai';
import { useState } from 'react';
import { Question } from './Question.tsx';

/** What `GET /api/chat/{id}` gives. */
export type StoredChat = { messages: UIMessage[]; seq: number };

export function Chat({ id, stored }: { id: string; stored: StoredChat }) {
  const { messages, sendMessage, addToolApprovalResponse, addToolOutput, error } = useChat({
    id,
    messages: stored.messages,
    // After a reload, resume an answer that is still being written.
    resume: stored.messages.length > 0,
    transport: new DefaultChatTransport({
      // AI SDK 7: questions come with their text, and answers go back bound to what was shown.
      headers: { 'x-adk-stream-profile': 'v7' },
      prepareReconnectToStreamRequest: ({ headers }) => ({
        api: `/api/chat/${id}/stream?after=${stored.seq}`,
        ...(headers && { headers }),
      }),
    }),
    // Send answers and outputs as soon as the message has all of them.
    sendAutomaticallyWhen: options => isAnswered(options) || isComplete(options),
    // Tools that run in the page.
    onToolCall({ toolCall: { toolName, toolCallId, input } }) {
      if (toolName === 'change_bgm') {
        const { track } = input as { track: number };
        void addToolOutput({ tool: toolName, toolCallId, output: { success: true, track } });
      }
    },
  });
  const [text, setText] = useState('');

  return (
    <>
      {messages.map(({ id, role, parts }) => (
        <article key={id} aria-label={role}>
          {parts.map((part, index) => {
            if (part.type === 'text') {
              return <p key={index}>{part.text}</p>;
            }
            if (!isToolUIPart(part)) {
              return null;
            }
            if (part.state === 'approval-requested') {
              const { id, descriptor } = part.approval;
              return (
                <Question
                  key={index}
                  descriptor={descriptor as { question: string; digest: string }}
                  input={part.input}
                  onAnswer={approved => addToolApprovalResponse({ id, approved })}
                />
              );
            }
            // A question that asks for data.
            const asked = questionOf(part);
            if (asked?.state === 'open') {
              return (
                <fieldset key={index} data-consent="card">
                  <legend data-consent="shown">
                    <UntrustedText text={asked.question} />
                    <span data-consent="end" />
                  </legend>
                  <QuestionForm
                    schema={asked.schema}
                    shown={asked.digest ?? asked.toolCallId}
                    onAnswer={given =>
                      'answer' in given
                        ? answerQuestion({ addToolOutput }, asked, given.answer)
                        : declineQuestion({ addToolOutput }, asked, given.reason)
                    }
                  />
                </fieldset>
              );
            }
            return (
              <p key={index}>
                <code>{getToolName(part)}</code>: {part.state}
              </p>
            );
          })}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={event => {
          event.preventDefault();
          void sendMessage({ text });
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={event => setText(event.target.value)} />
        <button type="submit">Send</button>
      </form>
    </>
  );
}
