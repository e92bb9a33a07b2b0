import { useSyncExternalStore } from 'react';
import { currentMusic, type Music, playTrack, stopMusic, subscribeToMusic } from './music.ts';

/** What plays, and the way to stop it and to start it again. */
export function MusicLine() {
  const music = useSyncExternalStore(subscribeToMusic, currentMusic);
  return (
    <span className="music" role="status">
      {music !== undefined && (
        <>
          <span>{words(music)}</span>
          <button type="button" onClick={() => onClick(music)}>
            {music.state === 'playing' ? 'Stop music' : 'Start music'}
          </button>
        </>
      )}
    </span>
  );
}

function words({ track, state }: Music): string {
  switch (state) {
    case 'waiting':
      return `Track ${track} waits for a click`;
    case 'playing':
      return `Playing track ${track}`;
    case 'stopped':
      return `Track ${track} is stopped`;
  }
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
