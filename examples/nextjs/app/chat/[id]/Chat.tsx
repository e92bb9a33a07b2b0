'use client';

import { durableChats, questionOf, withErrors } from '@adk-stream/client';
import { useDurableChat } from '@adk-stream/client/react';
import { DefaultChatTransport, getToolName, isToolUIPart } from 'ai';
import { useState } from 'react';
import { Question } from './Question.tsx';

const chats = durableChats({
  // Route handlers pass no WebSockets on: chats are streamed over HTTP.
  transport: ({ prepareReconnectToStreamRequest }) =>
    withErrors(
      new DefaultChatTransport({
        headers: { 'x-adk-stream-profile': 'v7' },
        prepareReconnectToStreamRequest,
      }),
    ),
});

// Tools that run in the page.
const tools = {
  change_bgm: ({ track }: { track: number }) => ({ success: true, track }),
};

export function Chat({ id }: { id: string }) {
  const chat = useDurableChat({ id, chats, tools });
  const { messages, sendMessage } = chat;
  const error = chat.error ?? chat.loadError;
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
            // A question for a yes or no, or for data.
            const asked = questionOf(part);
            const approvalId =
              part.state === 'approval-requested'
                ? part.approval.id
                : asked?.state === 'open' && asked.approvalId;
            if (approvalId) {
              const { approvals } = chats;
              const props = { approvalId, approvals, onAnswer: chat.answer };
              return <Question key={approvalId} {...props} />;
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
        {/* What the server has rendered takes no messages yet. */}
        <input
          aria-label="Message"
          disabled={!chat.isLoaded}
          value={text}
          onChange={event => setText(event.target.value)}
        />
        <button type="submit" disabled={!chat.isLoaded}>
          Send
        </button>
      </form>
    </>
  );
}
