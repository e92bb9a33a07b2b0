/** A recording cut into moments, each with its time, so that it can be played at any speed. */
import type { UIMessageChunk } from 'ai';
import type { Frame, Message } from '../server/api.ts';

export interface Moment {
  /** The entry that it belongs to. */
  seq: number;
  /** Milliseconds since the first. */
  at: number;
  messageId: string;
  opens?: { message: Message | null; after: string | null };
  chunks: UIMessageChunk[];
}

/** Nobody speaks for longer than this without a pause: what took longer was spent in thought. */
const LONGEST_SPEECH_MS = 4_000;

/**
 * The journal keeps a step's words once, when it ends. They are cut into words again, and distributed over
 * the time that the step took.
 */
export function momentsOf(frames: Frame[]): Moment[] {
  const moments: Moment[] = [];
  const start = frames[0]?.at ?? 0;
  let before = 0;
  for (const { seq, at, messageId, chunks, opens } of frames) {
    const now = at - start;
    const pieces = chunks.flatMap(cut);
    const words = pieces.filter(isWord).length;
    const span = words === 0 ? 0 : Math.min(now - before, LONGEST_SPEECH_MS);
    let spoken = 0;
    if (opens !== undefined) {
      moments.push({ seq, at: now, messageId, opens, chunks: [] });
    }
    for (const chunk of pieces) {
      if (isWord(chunk)) {
        spoken += 1;
      }
      const time = now - span + (words === 0 ? 0 : (span * spoken) / words);
      moments.push({ seq, at: time, messageId, chunks: [chunk] });
    }
    before = now;
  }
  return moments;
}

function isWord({ type }: UIMessageChunk): boolean {
  return type === 'text-delta' || type === 'reasoning-delta';
}

function cut(chunk: UIMessageChunk): UIMessageChunk[] {
  if (chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta') {
    return [chunk];
  }
  // Words with what follows them; where a language has no spaces, a few letters at a time.
  const words = chunk.delta.match(/[^\s\u3040-\u9fff]+\s*|[\u3040-\u9fff]{1,3}|\s+/g) ?? [];
  return words.map(delta => ({ ...chunk, delta }));
}
