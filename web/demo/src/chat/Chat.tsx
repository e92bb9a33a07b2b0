import { sendAutomaticallyWhen } from '@adk-stream/client';
import { useClientTools } from '@adk-stream/client/react';
import { useChat } from '@ai-sdk/react';
import type { FileUIPart } from 'ai';
import { ArrowDown } from 'lucide-react';
import { useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import { Scrolling } from '../app/Scrolling.tsx';
import { useSetting } from '../app/setting.ts';
import { useWords } from '../language/language.ts';
import { type Message, stopTurn } from '../server/api.ts';
import { broadcastChange } from '../server/changes.ts';
import { InfoContext } from '../server/info.ts';
import { type Problem, problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { transportName, transports } from '../server/transport.ts';
import { checkServer } from '../server/useServerHealth.ts';
import { MicrophoneButton } from '../speech/MicrophoneButton.tsx';
import { isVoicePlaying, mute, playData, stopPlayback, subscribeToVoice } from '../speech/voice.ts';
import { inOneTab } from '../tools/oneTab.ts';
import { pageTools } from '../tools/pageTools.ts';
import { toolParts } from '../tools/toolParts.ts';
import { Composer } from './Composer.tsx';
import { Conversation } from './Conversation.tsx';
import { Intro } from './Intro.tsx';
import { MESSAGE_FIELD } from './messageField.ts';
import { ProblemCard } from './ProblemCard.tsx';
import { tryAgain } from './tryAgain.ts';
import { useAnnouncements } from './useAnnouncements.ts';
import { useAnswer } from './useAnswer.ts';
import { useFollow } from './useFollow.ts';
import { useSteadyMessages } from './useSteadyMessages.ts';

interface Props {
  id: string;
  stored: Message[];
  isForgotten: boolean;
  onFirstMessage: () => void;
  onReload: () => void;
}

/** A frame and a half: words come faster than anybody reads, and drawing costs. */
const DRAW_MS = 24;

/** One chat: the SDK's own `useChat`, over whichever transport is chosen. */
export function Chat({ id, stored, isForgotten, onFirstMessage, onReload }: Props) {
  const words = useWords();
  const { audioInput } = useContext(InfoContext);
  const name = useSetting(transportName);
  const [stopProblem, setStopProblem] = useState<Problem>();
  const tools = useClientTools(pageTools);
  const chat = useChat<Message>({
    id,
    messages: stored,
    resume: stored.length > 0,
    transport: transports[name],
    sendAutomaticallyWhen,
    experimental_throttle: DRAW_MS,
    onToolCall: announced => {
      const { toolCallId } = announced.toolCall;
      const isOpen = () =>
        chat.messages.some(message =>
          toolParts(message).some(
            part => part.toolCallId === toolCallId && part.state === 'input-available',
          ),
        );
      inOneTab(toolCallId, () => tools.onToolCall(announced), isOpen);
    },
    onData: part => playData(part),
    onFinish: () => broadcastChange(id),
    onError: () => checkServer(),
  });
  tools.bind(chat);
  const { status, error } = chat;
  const isBusy = status === 'submitted' || status === 'streaming';
  const messages = useSteadyMessages(chat.messages, isBusy);
  const isEmpty = messages.length === 0;
  const isSpeaking = useSyncExternalStore(subscribeToVoice, isVoicePlaying);
  const last = messages.at(-1);
  const asked = last === undefined ? [] : toolParts(last).flatMap(askedId);

  const follow = useFollow(chat);
  const answer = useAnswer(id, follow);
  useAnnouncements(messages, isBusy);
  const { scrollRef, contentRef, isAtBottom, scrollToBottom } = useStickToBottom({
    initial: 'instant',
    resize: 'instant',
  });

  const unmute = useRef<() => void>(undefined);
  useEffect(() => () => unmute.current?.(), []);

  const begin = () => {
    if (isEmpty) {
      onFirstMessage();
    }
    setStopProblem(undefined);
    unmute.current?.();
    unmute.current = undefined;
    stopPlayback();
    void scrollToBottom('instant');
  };

  const send = (text: string, files: FileUIPart[] = []) => {
    begin();
    void chat.sendMessage(text === '' ? { files } : { text, files });
    // Other tabs may watch it being answered.
    broadcastChange(id);
  };

  const choose = (text: string) => {
    send(text);
    // The button goes with its click. Where a finger chose, a keyboard would only come up.
    if (window.matchMedia('(pointer: fine)').matches) {
      document.getElementById(MESSAGE_FIELD)?.focus({ preventScroll: true });
    }
  };

  const stop = async () => {
    // Audio of the stopped answer may be on its way still: only the next answer is played.
    unmute.current ??= mute();
    if (!isBusy) {
      return;
    }
    try {
      const isStopped = await stopTurn(id);
      await chat.stop();
      if (isStopped) {
        // The stream may have been closed before its last word came.
        chat.setMessages(markStopped);
      }
    } catch (problem) {
      setStopProblem(problemOf(problem));
      await chat.stop();
    }
    broadcastChange(id);
  };

  return (
    <main className="flex min-h-0 min-w-0 flex-1 flex-col">
      <Scrolling ref={scrollRef} className="scroller" label={words.conversation}>
        {/* The first sight is read from its top. */}
        <div ref={isEmpty ? null : contentRef} className="column">
          {isEmpty ? <Intro onChoose={choose} /> : <h1 className="sr-only">{words.intro.title}</h1>}
          {isForgotten && isEmpty && <p className="mt-4 text-sm text-amber">{words.forgotten}</p>}
          <Conversation messages={messages} status={status} onAnswer={answer} />
          {error !== undefined && (
            <ProblemCard
              // Another one counts again.
              key={error.message}
              problem={problemOf(error)}
              isUnsent={last?.role === 'user'}
              onRetry={() => void tryAgain(chat)}
              onReload={onReload}
            />
          )}
          {stopProblem !== undefined && (
            <p className="problem" role="alert">
              {words.problem.stop(problemWords(stopProblem, words.problem))}
            </p>
          )}
        </div>
      </Scrolling>
      <div className="relative">
        {!isAtBottom && !isEmpty && (
          <button
            type="button"
            className="icon-button round to-end"
            aria-label={words.toEnd}
            onClick={() => void scrollToBottom('instant')}
          >
            <ArrowDown aria-hidden="true" />
          </button>
        )}
        <div className="column foot">
          <Composer
            isBusy={isBusy}
            isSpeaking={isSpeaking}
            isAsking={asked.length > 0}
            onSend={send}
            onStop={() => void stop()}
            microphone={
              audioInput && <MicrophoneButton chat={chat} isBusy={isBusy} onBegin={begin} />
            }
          />
        </div>
      </div>
    </main>
  );
}

const askedId = (part: ReturnType<typeof toolParts>[number]) =>
  part.state === 'approval-requested' ? [part.approval.id] : [];

const markStopped = (messages: Message[]) =>
  messages.map((message, index) =>
    index === messages.length - 1 && message.role === 'assistant'
      ? { ...message, metadata: { ...message.metadata, turn: 'stopped' } }
      : message,
  );
