import { useSyncExternalStore } from 'react';
import { currentMusic, pauseMusic, playTrack, subscribeToMusic } from './music.ts';

/** What plays, and the way to stop it and to start it again. */
export function MusicLine() {
  const music = useSyncExternalStore(subscribeToMusic, currentMusic);
  return (
    <span className="music" role="status">
      {music !== undefined && (
        <>
          <span>
            {music.isPlaying ? `Playing track ${music.track}` : `Track ${music.track} is stopped`}
          </span>
          <button
            type="button"
            onClick={() => (music.isPlaying ? pauseMusic() : void playTrack(music.track))}
          >
            {music.isPlaying ? 'Stop music' : 'Start music'}
          </button>
        </>
      )}
    </span>
  );
}
