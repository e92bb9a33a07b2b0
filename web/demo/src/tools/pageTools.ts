/** The tools that the agent calls and this page runs. */
import type { ClientToolSet } from '@adk-stream/client';
import { words } from '../language/language.ts';
import { playTrack } from '../music/music.ts';
import { isTrack } from '../music/tracks.ts';
import { readLocation } from './location.ts';
import { isRecord } from './output.ts';

export const pageTools: ClientToolSet = {
  change_bgm: {
    run: changeMusic,
    isIdempotent: true,
    // It may wait for somebody to touch the page, without which no browser lets sound out.
    timeoutMs: 120_000,
  },
  // A browser may look for long, or ask its user; in a tab that nobody sees it may not look at all.
  get_location: { run: readLocation, isIdempotent: true, timeoutMs: 60_000 },
};

async function changeMusic(input: unknown): Promise<unknown> {
  const track = isRecord(input) ? input.track : undefined;
  if (!isTrack(track)) {
    throw new Error(words().music.none(track));
  }
  await playTrack(track);
  return { success: true, track };
}
