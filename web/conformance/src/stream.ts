/**
 * The shape of one stream of the corpus: what the server sends, what the person and the page do,
 * and what the real clients make of it.
 */
import type { Major } from './sdk.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Chunk = { type: string; [field: string]: Json };

/** What one response body holds: chunks, or event stream text that is sent as it is. */
export type WindowBody = { chunks: Chunk[] } | { raw: string };

/** One response. With `resume` it answers the GET of a page that was loaded again, else a POST. */
export type Window = WindowBody & { resume?: true };

/** Something that happens in the page once window `after` has ended and the chat is idle. */
export type Act = { after: number } & (
  | { approve: string; reason?: string }
  | { deny: string; reason?: string }
  | { say: string }
  | { output: { toolCallId: string; output: Json } }
  | { outputError: { toolCallId: string; errorText: string } }
);

export type Outcome = 'ok' | 'throws' | 'loops' | 'stuck';

export type Wrong = 'invalid' | 'part-twice' | 'split' | 'state-back' | 'unfinished';

export type Verdict = { outcome: Outcome; reason?: string; wrong?: Wrong[] };

export type Expectation = { both: Verdict } | Record<Major, Verdict>;

export type Stream = {
  name: string;
  why: string;
  /** Tools that the page runs as soon as they are announced, with the output that it gives. */
  clientTools?: Record<string, Json>;
  windows: Window[];
  acts?: Act[];
  expect: Expectation;
};

export function expectedVerdict(stream: Stream, major: Major): Verdict {
  return 'both' in stream.expect ? stream.expect.both : stream.expect[major];
}
