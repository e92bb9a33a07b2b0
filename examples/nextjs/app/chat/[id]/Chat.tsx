'use client';

import { durableChats, withErrors } from '@adk-stream/client';
import { useDurableChat } from '@adk-stream/client/react';
import { ConsentButton } from '@adk-stream/client/react/parts';
import { DefaultChatTransport, getToolName, isToolUIPart } from 'ai';
import { useState } from 'react';

const chats = durableChats({
  // Route handlers pass no WebSockets on: chats are streamed over HTTP.
  transport: ({ prepareReconnectToStreamRequest }) =>
    withErrors(
      new DefaultChatTransport({
        // AI SDK 7: questions come with their text, and answers go back bound to what was shown.
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
  const { messages, sendMessage, addToolApprovalResponse } = chat;
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
            if (part.state === 'approval-requested') {
              const { id, descriptor } = part.approval;
              const { question } = descriptor as { question: string };
              return (
                <fieldset key={index} data-consent="card">
                  <legend data-consent="shown">{question}</legend>
                  <pre data-consent="shown">{JSON.stringify(part.input, null, 2)}</pre>
                  <ConsentButton
                    isReady
                    shown={id}
                    onConsent={() => addToolApprovalResponse({ id, approved: true })}
                    onTooSoon={() => undefined}
                  >
                    Approve
                  </ConsentButton>
                  <button
                    type="button"
                    onClick={() => addToolApprovalResponse({ id, approved: false })}
                  >
                    Deny
                  </button>
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
