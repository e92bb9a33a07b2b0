/** What holds for every stream of the legacy dialect, whatever is said in it. */
import type { Chunk } from '../stream.ts';
import type { TurnStream } from './legacy-connection.ts';

/** All that a server may say in this dialect, besides audio and files. */
const types: ReadonlySet<string> = new Set([
  'start',
  'text-start',
  'text-delta',
  'text-end',
  'reasoning-start',
  'reasoning-delta',
  'reasoning-end',
  'tool-input-start',
  'tool-input-available',
  'tool-input-error',
  'start-step',
  'tool-approval-request',
  'finish-step',
  'tool-output-available',
  'tool-output-error',
  'finish',
  'error',
]);

/** How far a call has come with a chunk. */
const progress: Readonly<Record<string, number>> = {
  'tool-input-start': 1,
  'tool-input-available': 2,
  'tool-input-error': 2,
  'tool-approval-request': 3,
  'tool-output-available': 4,
  'tool-output-error': 4,
};

/** Where a stream is not in the order of the legacy dialect. */
export function disorderOf({ chunks, state, isRepeat, messageId }: TurnStream): string[] {
  const found: string[] = [];
  const kinds = chunks.map(({ type }) => type);
  found.push(...kinds.filter(kind => !types.has(kind)).map(kind => `${kind} is not of it`));
  if (kinds[0] !== 'start' || kinds.filter(kind => kind === 'start').length !== 1) {
    found.push('one start, at its start');
  }
  const ends = kinds.filter(kind => kind === 'finish' || kind === 'error');
  const endsAtTheEnd = kinds.at(-1) === 'finish' || kinds.at(-1) === 'error';
  if (state === 'ended' ? ends.length !== 1 || !endsAtTheEnd : ends.length > 1) {
    found.push(`one finish, before [DONE]: ${ends}`);
  }
  found.push(...stepsOf(kinds), ...blocksOf(chunks, messageId));
  const calls = new Map<string, { reached: number; isSettled: boolean }>();
  for (const { type, toolCallId, preliminary } of chunks) {
    const step = progress[type];
    if (step === undefined) {
      continue;
    }
    const call = String(toolCallId);
    // A stream that continues with a turn has no need to repeat what led to its question.
    const before = calls.get(call) ?? {
      reached: isRepeat || step === 1 ? 0 : -1,
      isSettled: false,
    };
    if (before.isSettled || step < before.reached || (before.reached < 0 && step < 4)) {
      found.push(`${type} of ${call} in its place`);
    }
    const isSettled = step === 4 && preliminary !== true;
    // A tool may ask once more, or show how far it is, in any order.
    calls.set(call, { reached: Math.min(step, 3), isSettled });
  }
  return found;
}

/** Only a question has a step, and nothing else is in it. */
function stepsOf(kinds: string[]): string[] {
  const found: string[] = [];
  kinds.forEach((kind, index) => {
    const [before, after] = [kinds[index - 1], kinds[index + 1]];
    if (kind === 'start-step' && after !== undefined && after !== 'tool-approval-request') {
      found.push(`${after} after start-step`);
    }
    if (kind === 'finish-step' && before !== 'tool-approval-request') {
      found.push(`${before} before finish-step`);
    }
    if (
      kind === 'tool-approval-request' &&
      (before !== 'start-step' || (after ?? 'finish-step') !== 'finish-step')
    ) {
      found.push(`a question between ${before} and ${after}`);
    }
  });
  return found;
}

/** Texts and thoughts begin, go on and end, each once; a text is named after its message. */
function blocksOf(chunks: Chunk[], messageId: string): string[] {
  const found: string[] = [];
  const open = new Set<string>();
  const ended = new Set<string>();
  for (const { type, id } of chunks) {
    const block = /^(text|reasoning)-(start|delta|end)$/.exec(type);
    if (block === null) {
      continue;
    }
    const [, kind, what] = block;
    const name = `${kind} ${id}`;
    if (kind === 'text' && !String(id).startsWith(`${messageId}_output_text`)) {
      found.push(`${name} is not named after ${messageId}`);
    }
    if (what === 'start' ? open.has(name) || ended.has(name) : !open.has(name)) {
      found.push(`${type} of ${id} in its place`);
    }
    if (what === 'start') {
      open.add(name);
    } else if (what === 'end') {
      open.delete(name);
      ended.add(name);
    }
  }
  return found;
}

/** The chunks that one of the clients, old or new, does not know. */
export async function unknownTo(chunks: Chunk[]): Promise<string[]> {
  // Four releases take a while to load, and only this needs them in a run with a server.
  const { profiles, schemaSdks } = await import('../schema-sdks.ts');
  const found: string[] = [];
  for (const name of profiles.shared) {
    const { validate } = schemaSdks[name].uiMessageChunkSchema();
    if (validate === undefined) {
      throw new Error(`${name} validates nothing`);
    }
    for (const chunk of chunks) {
      if (!(await validate(chunk)).success) {
        found.push(`${name}: ${JSON.stringify(chunk)}`);
      }
    }
  }
  return found;
}
