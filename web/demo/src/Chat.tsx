import { useChat } from '@ai-sdk/react';
import { useState } from 'react';
import { Composer, MESSAGE_FIELD } from './Composer.tsx';
import { Conversation } from './Conversation.tsx';
import { hasAnswersToSend } from './hasAnswersToSend.ts';
import { Intro } from './Intro.tsx';
import { Problem } from './Problem.tsx';
import { runPageTool } from './pageTools.ts';
import { problemWords } from './problemWords.ts';
import { Suggestions } from './Suggestions.tsx';
import { type Message, stopTurn } from './server.ts';
import { tryAgain } from './tryAgain.ts';
import { useLaterMessages } from './useLaterMessages.ts';
import { useStickToEnd } from './useStickToEnd.ts';

interface Props {
  id: string;
  stored: Message[];
  isForgotten: boolean;
  onFirstMessage: () => void;
  onSettled: () => void;
}

const markStopped = (messages: Message[]) =>
  messages.map((message, index) =>
    index === messages.length - 1 && message.role === 'assistant'
      ? { ...message, metadata: { ...message.metadata, turn: 'stopped' } }
      : message,
  );

/** One chat: the stock `useChat`, with no transport of our own. */
export function Chat({ id, stored, isForgotten, onFirstMessage, onSettled }: Props) {
  const [stopProblem, setStopProblem] = useState<string>();
  const chat = useChat<Message>({
    id,
    messages: stored,
    resume: stored.length > 0,
    sendAutomaticallyWhen: hasAnswersToSend,
    onToolCall: ({ toolCall }) => {
      // Not awaited: the stream that brought the call ends only after this callback, and the output
      // can be sent only after the stream.
      void runPageTool(toolCall)?.then(outcome =>
        chat.addToolOutput({
          tool: toolCall.toolName,
          toolCallId: toolCall.toolCallId,
          ...outcome,
        }),
      );
    },
    onFinish: onSettled,
  });
  const { messages, status, error } = chat;
  const isBusy = status === 'submitted' || status === 'streaming';
  const isEmpty = messages.length === 0;

  useLaterMessages({ id, messages, isIdle: status === 'ready', setMessages: chat.setMessages });
  const stickToEnd = useStickToEnd(!isEmpty);

  const send = (text: string) => {
    if (isEmpty) {
      onFirstMessage();
    }
    stickToEnd();
    setStopProblem(undefined);
    void chat.sendMessage({ text });
  };

  const choose = (text: string) => {
    send(text);
    // The button goes with its click. Where a finger chose, a keyboard would only come up.
    if (window.matchMedia('(pointer: fine)').matches) {
      document.getElementById(MESSAGE_FIELD)?.focus({ preventScroll: true });
    }
  };

  const answer = (approvalId: string, approved: boolean, reason: string) => {
    const words = reason.trim();
    void chat.addToolApprovalResponse({
      id: approvalId,
      approved,
      ...(words !== '' && { reason: words }),
    });
    onSettled();
  };

  const stop = async () => {
    const isStopped = await stopTurn(id).catch((problem: Error) => {
      setStopProblem(problem.message);
      return false;
    });
    await chat.stop();
    if (isStopped) {
      // The stream may have been closed before its last word came.
      chat.setMessages(markStopped);
    }
  };

  return (
    <>
      <main className="chat">
        <Intro isLarge={isEmpty} />
        {isForgotten && isEmpty && (
          <p className="note">The server does not know this chat. What you write starts it anew.</p>
        )}
        {isEmpty && <Suggestions onChoose={choose} />}
        <Conversation messages={messages} status={status} onAnswer={answer} />
        {error !== undefined && (
          <Problem words={problemWords(error)} onRetry={() => tryAgain(chat)} />
        )}
        {stopProblem !== undefined && (
          <Problem words={`The turn may go on: it could not be stopped. ${stopProblem}`} />
        )}
      </main>
      <Composer isBusy={isBusy} onSend={send} onStop={stop} />
    </>
  );
}
