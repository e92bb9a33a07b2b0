import type { Speech } from '@adk-stream/client';
import type { UseChatHelpers } from '@ai-sdk/react';
import { Mic } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useSetting } from '../app/setting.ts';
import { useWords } from '../language/language.ts';
import { Levels } from '../music/Levels.tsx';
import type { Message } from '../server/api.ts';
import { bidi, transportName } from '../server/transport.ts';
import { type Microphone, openMicrophone } from './microphone.ts';
import { hush, isVoiceHeard, silence, subscribeToVoice, voiceAnalyser } from './voice.ts';

interface Props {
  chat: UseChatHelpers<Message>;
  isBusy: boolean;
  /** Somebody begins to talk. */
  onBegin: () => void;
}

/** Held down, it lets the person talk; let go, it sends. */
export function TalkButton({ chat, isBusy, onBegin }: Props) {
  const words = useWords().speech;
  const isBidi = useSetting(transportName) === 'bidi';
  const isSpeaking = useSyncExternalStore(subscribeToVoice, isVoiceHeard);
  const [isTalking, setIsTalking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const microphone = useRef<Microphone>(undefined);
  /** Counts how often the button was pressed, so that a late microphone knows whether it is wanted. */
  const press = useRef(0);

  const begin = async () => {
    const mine = ++press.current;
    setProblem(undefined);
    setIsTalking(true);
    // The answer goes on to come until it is let go below, and a microphone takes its time to open.
    const hearAgain = silence();
    try {
      await talk(mine);
    } finally {
      hearAgain();
    }
  };

  const talk = async (mine: number) => {
    let speech: Speech | undefined;
    try {
      const opened = await openMicrophone(pcm => speech?.write(pcm));
      if (mine !== press.current) {
        opened.close();
        return;
      }
      microphone.current = opened;
    } catch (error) {
      setIsTalking(false);
      setProblem((error as Error).name === 'NotFoundError' ? words.none : words.denied);
      return;
    }
    if (isBusy) {
      // Whoever talks falls in: what is being answered is let go, and what was asked now counts.
      await chat.stop();
    }
    onBegin();
    speech = bidi.speak(chat.id);
    current.current = speech;
    void chat.sendMessage({
      role: 'user',
      parts: [{ type: 'data-speech', data: { sampleRate: 16_000 } }],
    } as Parameters<typeof chat.sendMessage>[0]);
  };

  const current = useRef<Speech>(undefined);

  const end = () => {
    press.current += 1;
    setIsTalking(false);
    current.current?.end();
    current.current = undefined;
    microphone.current?.close();
    microphone.current = undefined;
  };

  // Whoever leaves has stopped talking, and listening.
  const latest = useRef(end);
  latest.current = end;
  useEffect(
    () => () => {
      latest.current();
      hush();
    },
    [],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key === ' ' || event.key === 'Enter') && !event.repeat) {
      event.preventDefault();
      void begin();
    }
  };

  return (
    <>
      {(isTalking || isSpeaking) && (
        <Levels
          analyser={() => (isTalking ? microphone.current?.analyser : voiceAnalyser())}
          isOn
          bars={7}
        />
      )}
      <button
        type="button"
        className={isTalking ? 'icon-button round talking' : 'icon-button round'}
        aria-label={isTalking ? words.talking : words.talk}
        aria-pressed={isTalking}
        title={isBidi ? words.talk : words.onlyBidi}
        disabled={!isBidi}
        onPointerDown={event => {
          event.currentTarget.setPointerCapture(event.pointerId);
          void begin();
        }}
        onPointerUp={end}
        onPointerCancel={end}
        onKeyDown={onKeyDown}
        onKeyUp={event => (event.key === ' ' || event.key === 'Enter') && end()}
        onBlur={() => isTalking && end()}
      >
        <Mic aria-hidden="true" />
      </button>
      {problem !== undefined && (
        <span className="note" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
