import { Pause, Play } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import type { Words } from '../language/en.ts';
import { useWords } from '../language/language.ts';
import { Levels } from './Levels.tsx';
import {
  currentMusic,
  type Music,
  musicAnalyser,
  playTrack,
  stopMusic,
  subscribeToMusic,
} from './music.ts';

/** What plays, and the way to stop it and to start it again. */
export function MusicLine() {
  const words = useWords();
  const music = useSyncExternalStore(subscribeToMusic, currentMusic);
  const isPlaying = music?.state === 'playing';
  return (
    <span className="flex min-w-0 items-center gap-2 text-sm" role="status">
      {music !== undefined && (
        <>
          <Levels analyser={musicAnalyser} isOn={isPlaying} />
          <span className="truncate">{said(music, words.music)}</span>
          <button
            type="button"
            className="icon-button small"
            aria-label={isPlaying ? words.music.stop : words.music.start}
            onClick={() => onClick(music)}
          >
            {isPlaying ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
          </button>
        </>
      )}
    </span>
  );
}

function said({ track, state }: Music, words: Words['music']): string {
  return words[state](track);
}

function onClick({ track, state }: Music): void {
  if (state === 'playing') {
    stopMusic();
  } else if (state === 'stopped') {
    // Where it can't be played, it stays stopped.
    playTrack(track).catch(() => undefined);
  }
  // One that waits has been waiting for this very click.
}
