import { type UseDurableChat, useDurableChat } from '@adk-stream/client/react';
import type { FileUIPart } from 'ai';
import { ArrowDown, RotateCcw } from 'lucide-react';
import {
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import { announce } from '../app/announcer.tsx';
import { Scrolling } from '../app/Scrolling.tsx';
import { useSetting } from '../app/setting.ts';
import type { ChatAddress } from '../app/useChatAddress.ts';
import { useWords } from '../language/language.ts';
import type { Message } from '../server/api.ts';
import { InfoContext } from '../server/info.ts';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { chats, transportName, transports } from '../server/transport.ts';
import { MicrophoneButton } from '../speech/MicrophoneButton.tsx';
import { isVoicePlaying, mute, playData, stopPlayback, subscribeToVoice } from '../speech/voice.ts';
import { pageTools } from '../tools/pageTools.ts';
import { toolParts } from '../tools/toolParts.ts';
import { useBranches, versionsOf } from './branches.ts';
import { Composer } from './Composer.tsx';
import { Conversation } from './Conversation.tsx';
import { Intro } from './Intro.tsx';
import { MESSAGE_FIELD } from './messageField.ts';
import { ProblemCard } from './ProblemCard.tsx';
import { tryAgain } from './tryAgain.ts';
import { type Rewriting, RewritingContext } from './UserMessage.tsx';
import { useAnnouncements } from './useAnnouncements.ts';
import { useAnswer } from './useAnswer.ts';
import { useJournalRefresh } from './useJournalRefresh.ts';
import { Waiting } from './Waiting.tsx';
import { whileRunning } from './WhileRunningSwitch.tsx';

interface Props {
  address: ChatAddress;
  onFirstMessage: () => void;
}

/** A frame and a half: words come faster than anybody reads, and drawing costs. */
const DRAW_MS = 24;

/** A chat as the server knows it, then live. What is loaded again begins again. */
export function Chat(props: Props) {
  const [times, setTimes] = useState(0);
  const onReload = useCallback(() => setTimes(count => count + 1), []);
  return <StoredChat key={times} {...props} isReloaded={times > 0} onReload={onReload} />;
}

/** The SDK's own chat, kept as the server has it, over whichever transport is chosen. */
function StoredChat({
  address,
  isReloaded,
  onFirstMessage,
  onReload,
}: Props & { isReloaded: boolean; onReload: () => void }) {
  const name = useSetting(transportName);
  const { id } = address;
  // The address names a new chat once something was said in it.
  const [isNamed] = useState(address.isNamed || isReloaded);
  const chat = useDurableChat<Message>({
    id,
    chats,
    isNew: !isNamed,
    transport: transports[name],
    tools: pageTools,
    throttle: DRAW_MS,
    onData: part => playData(part),
    // The light is to say why.
    onError: () => chats.events.check(),
  });
  const { isLoaded, isMissing, loadError } = chat;
  if (isLoaded) {
    const isForgotten = isNamed && isMissing;
    const props = { chat, isForgotten, onFirstMessage, onReload };
    return <LoadedChat {...props} />;
  }
  if (loadError === undefined) {
    return <main className="flex-1" aria-busy="true" />;
  }
  return (
    <main className="flex-1">
      <div className="column">
        <ProblemCard problem={problemOf(loadError)} onRetry={onReload} onReload={onReload} />
      </div>
    </main>
  );
}

interface LoadedProps {
  chat: UseDurableChat<Message>;
  /** Whether the address names a chat that the server does not know. */
  isForgotten: boolean;
  onFirstMessage: () => void;
  onReload: () => void;
}

/** What was said, and where one says more. */
function LoadedChat({ chat, isForgotten, onFirstMessage, onReload }: LoadedProps) {
  const words = useWords();
  const { audioInput } = useContext(InfoContext);
  /** What could not be done, in words. */
  const [refusal, setRefusal] = useState<string>();
  const { id, status, error, messages, queued, refresh } = chat;
  const isBusy = status === 'submitted' || status === 'streaming';
  const isEmpty = messages.length === 0;
  const isSpeaking = useSyncExternalStore(subscribeToVoice, isVoicePlaying);
  const last = messages.at(-1);
  const asked = last === undefined ? [] : toolParts(last).flatMap(askedId);

  useJournalRefresh(messages.some(({ role }) => role === 'assistant'));
  const answer = useAnswer(refresh);
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
    setRefusal(undefined);
    unmute.current?.();
    unmute.current = undefined;
    stopPlayback();
    void scrollToBottom('instant');
  };

  const send = (text: string, files: FileUIPart[] = []) => {
    begin();
    void chat.sendMessage(text === '' ? { files } : { text, files });
  };

  const enqueue = async (text: string, files: FileUIPart[]) => {
    await chat.enqueue({ text, files }, whileRunning.get());
    announce(words.queue.waits[whileRunning.get()]);
  };

  const branches = useBranches(id, messages, isBusy);
  const isReady = !isBusy && asked.length === 0 && queued.length === 0;
  const actions = useRef({ rewrite: (_: Message, __: string) => {}, select: (_: string) => {} });
  actions.current = {
    rewrite: ({ id: messageId, parts }, text) => {
      begin();
      const files = parts.filter((part): part is FileUIPart => part.type === 'file');
      void chat.sendMessage({ text, files, messageId });
    },
    select: messageId => {
      setRefusal(undefined);
      chat
        .selectBranch(messageId)
        .catch(problem =>
          setRefusal(words.versions.refused(problemWords(problemOf(problem), words.problem))),
        );
    },
  };
  const shown = messages.map(message => message.id).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: not with every word that comes
  const versions = useMemo(() => versionsOf(messages, branches), [shown, branches]);
  const rewriting = useMemo<Rewriting>(
    () => ({
      versions,
      isReady,
      onRewrite: (message, text) => actions.current.rewrite(message, text),
      onVersion: messageId => actions.current.select(messageId),
    }),
    [versions, isReady],
  );

  const again = () => {
    begin();
    void chat.regenerate();
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
    if (!isBusy && queued.length === 0) {
      return;
    }
    try {
      await chat.stop();
    } catch (problem) {
      setRefusal(words.problem.stop(problemWords(problemOf(problem), words.problem)));
    }
  };

  return (
    <main className="flex min-h-0 min-w-0 flex-1 flex-col">
      <Scrolling ref={scrollRef} className="scroller" label={words.conversation}>
        {/* The first sight is read from its top. */}
        <div ref={isEmpty ? null : contentRef} className="column">
          {isEmpty ? <Intro onChoose={choose} /> : <h1 className="sr-only">{words.intro.title}</h1>}
          {isForgotten && isEmpty && <p className="mt-4 text-sm text-amber">{words.forgotten}</p>}
          <RewritingContext value={rewriting}>
            <Conversation messages={messages} status={status} onAnswer={answer} />
          </RewritingContext>
          {isReady && status === 'ready' && isAnswer(messages) && (
            <button type="button" className="button quiet small mt-3 ml-4" onClick={again}>
              <RotateCcw aria-hidden="true" />
              {words.versions.again}
            </button>
          )}
          <Waiting queued={queued} onWithdraw={() => void stop()} />
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
          {refusal !== undefined && (
            <p className="problem" role="alert">
              {refusal}
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
            onEnqueue={enqueue}
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

/** Whether the last message is the answer to what a person said. */
const isAnswer = (messages: Message[]) =>
  messages.at(-1)?.role === 'assistant' && messages.at(-2)?.role === 'user';

const askedId = (part: ReturnType<typeof toolParts>[number]) =>
  part.state === 'approval-requested' ? [part.approval.id] : [];
