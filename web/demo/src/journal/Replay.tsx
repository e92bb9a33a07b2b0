import { Slider } from '@base-ui/react/slider';
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { Pause, Play, RotateCcw, StepForward, X } from 'lucide-react';
import { useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import { Scrolling } from '../app/Scrolling.tsx';
import { MessageView } from '../chat/MessageView.tsx';
import { useWords } from '../language/language.ts';
import { readRecording } from '../server/api.ts';
import { read } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { ClockContext } from '../tools/clock.ts';
import { Journal, JournalContext, useJournal } from './journal.ts';
import { momentsOf } from './moments.ts';
import { RecordingPlayer, type Speed } from './RecordingPlayer.ts';

interface Props {
  chatId: string;
  /** Which entry it has come to. */
  onEntry: (seq: number) => void;
  onLeave: () => void;
}

/** The recorded chat, played again. */
export function Replay({ chatId, onEntry, onLeave }: Props) {
  const words = useWords();
  const [player, setPlayer] = useState<RecordingPlayer>();
  const [hasFailed, setHasFailed] = useState(false);

  useEffect(() => {
    let made: RecordingPlayer | undefined;
    let isGone = false;
    readRecording(chatId).then(
      frames => {
        if (!isGone) {
          made = new RecordingPlayer(momentsOf(frames));
          setPlayer(made);
          made.play();
        }
      },
      () => setHasFailed(true),
    );
    return () => {
      isGone = true;
      made?.close();
    };
  }, [chatId]);

  return (
    <main className="flex min-h-0 min-w-0 flex-1 flex-col" aria-label={words.replay.bar}>
      <h1 className="sr-only">{words.replay.bar}</h1>
      {player === undefined ? (
        <div className="column flex-1" aria-busy={!hasFailed}>
          {hasFailed && (
            <p className="problem" role="alert">
              {words.replay.failed}
            </p>
          )}
        </div>
      ) : (
        <Screen player={player} onEntry={onEntry} />
      )}
      <div className="column foot">
        <div className="player">
          {player !== undefined && <Controls player={player} />}
          <button type="button" className="button ml-auto" onClick={onLeave}>
            <X aria-hidden="true" />
            {words.replay.leave}
          </button>
        </div>
      </div>
    </main>
  );
}

interface ScreenProps {
  player: RecordingPlayer;
  onEntry: (seq: number) => void;
}

/** Nobody answers in the past. */
const noAnswer = () => new Promise<never>(() => undefined);

function Screen({ player, onEntry }: ScreenProps) {
  const words = useWords();
  const { messages, seq, error, isOver } = useSyncExternalStore(player.subscribe, player.get);
  const { scrollRef, contentRef } = useStickToBottom({ initial: 'instant', resize: 'instant' });
  const last = messages.at(-1);
  const { chatId } = useContext(JournalContext);
  const { entries } = useJournal();
  // What was decided later was not known then.
  const past = useMemo(
    () =>
      Journal.of(
        chatId,
        entries.filter(entry => entry.seq <= seq),
      ),
    [chatId, entries, seq],
  );

  useEffect(() => onEntry(seq), [seq, onEntry]);

  return (
    <Scrolling ref={scrollRef} className="scroller" label={words.replay.title}>
      {/* What is shown has happened: nothing in it can be pressed. */}
      <div ref={contentRef} className="column">
        <section className="conversation replayed" role="log" aria-live="off" inert>
          <JournalContext value={past}>
            <ClockContext value={past.get().entries.at(-1)?.at}>
              {messages.map(message => (
                <MessageView
                  key={message.id}
                  message={message}
                  isOpen={message === last}
                  isBusy={message === last && message.role === 'assistant' && !isOver}
                  isBroken={false}
                  isParked={false}
                  onAnswer={noAnswer}
                />
              ))}
            </ClockContext>
          </JournalContext>
        </section>
        {error !== undefined && (
          <p className="problem">{problemWords(read(error), words.problem)}</p>
        )}
        {isOver && <p className="mt-6 text-sm text-soft">{words.replay.over}</p>}
      </div>
    </Scrolling>
  );
}

function Controls({ player }: { player: RecordingPlayer }) {
  const words = useWords().replay;
  const { place, isPlaying, waits } = useSyncExternalStore(player.subscribe, player.get);
  const [speed, setSpeed] = useState<Speed>('own');
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={words.restart}
        onClick={() => player.restart()}
      >
        <RotateCcw aria-hidden="true" />
      </button>
      <button
        type="button"
        className="icon-button round send"
        aria-label={isPlaying ? words.pause : words.play}
        onClick={() => (isPlaying ? player.pause() : player.play())}
      >
        {isPlaying ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={words.step}
        onClick={() => player.step()}
      >
        <StepForward aria-hidden="true" />
      </button>
      <ToggleGroup
        className="switch"
        aria-label={words.speed}
        value={[speed]}
        onValueChange={value => {
          const [next] = value as Speed[];
          if (next !== undefined) {
            setSpeed(next);
            player.setSpeed(next);
          }
        }}
      >
        <Toggle value="own">{words.own}</Toggle>
        <Toggle value="fast">{words.fast}</Toggle>
      </ToggleGroup>
      <Slider.Root
        className="slider"
        value={place}
        min={0}
        max={player.length}
        onValueChange={value => {
          player.pause();
          void player.seek(value as number);
        }}
      >
        <Slider.Control className="control">
          <Slider.Track className="track">
            <Slider.Indicator className="indicator" />
            <Slider.Thumb className="thumb" aria-label={words.position} />
          </Slider.Track>
        </Slider.Control>
      </Slider.Root>
      <span className="text-sm text-soft" role="status">
        {waits > 0 ? words.waiting(waits) : ''}
      </span>
    </>
  );
}
