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
import { isVoicePlaying, mute, stopPlayback, subscribeToVoice, voiceAnalyser } from './voice.ts';

interface Props {
  chat: UseChatHelpers<Message>;
  isBusy: boolean;
  /** The recording begins. */
  onBegin: () => void;
}

/** Records while it is held down, and sends when it is released. */
export function MicrophoneButton({ chat, isBusy, onBegin }: Props) {
  const words = useWords().speech;
  const isBidi = useSetting(transportName) === 'bidi';
  const isSpeaking = useSyncExternalStore(subscribeToVoice, isVoicePlaying);
  const [isRecording, setIsRecording] = useState(false);
  const [problem, setProblem] = useState<string>();
  const microphone = useRef<Microphone>(undefined);
  /** Counts how often the button was pressed, so that a late microphone knows whether it is wanted. */
  const press = useRef(0);

  const begin = async () => {
    const mine = ++press.current;
    setProblem(undefined);
    setIsRecording(true);
    // The answer continues to come until it is stopped below, and a microphone takes its time to open.
    const unmute = mute();
    try {
      await record(mine);
    } finally {
      unmute();
    }
  };

  const record = async (mine: number) => {
    let speech: Speech | undefined;
    try {
      const opened = await openMicrophone(pcm => speech?.write(pcm));
      if (mine !== press.current) {
        opened.close();
        return;
      }
      microphone.current = opened;
    } catch (error) {
      setIsRecording(false);
      setProblem((error as Error).name === 'NotFoundError' ? words.none : words.denied);
      return;
    }
    if (isBusy) {
      // Speech interrupts: the current answer is stopped, and the new message counts.
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
    setIsRecording(false);
    current.current?.end();
    current.current = undefined;
    microphone.current?.close();
    microphone.current = undefined;
  };

  // Leaving the page ends recording and playback.
  const latest = useRef(end);
  latest.current = end;
  useEffect(
    () => () => {
      latest.current();
      stopPlayback();
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
      {(isRecording || isSpeaking) && (
        <Levels
          analyser={() => (isRecording ? microphone.current?.analyser : voiceAnalyser())}
          isOn
          bars={7}
        />
      )}
      <button
        type="button"
        className={isRecording ? 'icon-button round recording' : 'icon-button round'}
        aria-label={isRecording ? words.talking : words.talk}
        aria-pressed={isRecording}
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
        onBlur={() => isRecording && end()}
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
