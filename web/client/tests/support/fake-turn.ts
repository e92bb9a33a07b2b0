/**
 * A turn as the server keeps it: windows that open one after the other, and for a client that comes back
 * what follows its position, with what is over by then as history.
 */
import type { Chunk } from '../../src/chunk.ts';
import type { ResumeFrame } from '../../src/frame.ts';
import {
  extentOf,
  type NumberedChunk,
  type ResumePoint,
  StreamPosition,
} from '../../src/stream-position.ts';

/** How a turn is read again: word by word, or as a journal has it. */
export type ReplayForm = { mergesDeltas?: boolean };

/** A chunk of the turn, and the sequence behind it; parks that the turn has left are not sent. */
type Line = { chunk: Chunk; after: number; isLeftPark: boolean };

export class FakeTurn {
  readonly messageId: string;
  /** What each window contains, without its start and its finish. */
  readonly windows: Chunk[][];
  /** How many of them were opened. */
  opened = 0;
  /** Why it failed, if it did. */
  failure: { code: string; message: string; retryAfterMs?: number } | undefined;

  constructor(messageId: string, windows: Chunk[][]) {
    this.messageId = messageId;
    this.windows = windows;
  }

  get isAtLast(): boolean {
    return this.opened === this.windows.length;
  }

  /** The window that was opened last. */
  get current(): NumberedChunk[] {
    const before = this.windows.slice(0, this.opened - 1);
    const lines = this.#lines({}).slice(before.flat().length + before.length);
    const sequence = before.flat().reduce((sum, chunk) => sum + extentOf(chunk), before.length);
    return [{ sequence, gap: sequence > 0, chunk: this.#start }, ...numbered(lines, sequence)];
  }

  /** All of it, for a client that has seen nothing. */
  replay(form: ReplayForm): NumberedChunk[] {
    const lines = asHistory(this.#lines(form), 0, undefined);
    return [{ sequence: 0, gap: false, chunk: this.#start }, ...numbered(lines, 0)];
  }

  /** What follows a position. */
  rest(frame: ResumeFrame & ResumePoint, form: ReplayForm): NumberedChunk[] {
    const { lastSequence, stepSequence } = frame;
    const lines = this.#lines(form);
    const before = cutAt(lines.filter(line => line.after - extentOf(line.chunk) < lastSequence));
    const position = new StreamPosition();
    position.note({ sequence: stepSequence, gap: true, chunk: this.#start });
    for (const line of before.filter(({ after }) => after > stepSequence)) {
      position.note({ sequence: line.after, gap: true, chunk: line.chunk });
    }
    if (before.at(-1)?.after === lastSequence && position.point?.stepHash === frame.stepHash) {
      const denied = frame.approvals.some(({ approved }) => approved === false);
      return numbered(asHistory(lines, lastSequence, denied), lastSequence);
    }
    if ((frame.body as { profile?: string }).profile !== 'v7') {
      const error = { code: 'answer_changed', message: 'Begun again.' };
      return failed(error).map(chunk => ({
        sequence: lastSequence,
        gap: true,
        chunk,
      }));
    }
    const start = lines.findLast(
      ({ chunk, after }) => chunk.type === 'start-step' && after <= stepSequence,
    );
    const sequence = start?.after ?? 0;
    return [
      { sequence, gap: true, chunk: { type: 'reset-step' } },
      ...numbered(asHistory(lines, sequence, false), sequence),
    ];

    /** The lines up to the position, the last of them in part. */
    function cutAt(lines: Line[]): Line[] {
      return lines.map(line => {
        const beyond = line.after - lastSequence;
        if (beyond <= 0) {
          return line;
        }
        const delta = String(line.chunk.delta).slice(0, -beyond);
        return { ...line, chunk: { ...line.chunk, delta }, after: lastSequence };
      });
    }
  }

  #lines({ mergesDeltas = false }: ReplayForm): Line[] {
    let after = 0;
    return this.windows.slice(0, this.opened).flatMap((window, index) => {
      const isLast = index === this.opened - 1;
      const chunks = mergesDeltas ? merged(window) : window;
      const lines = [...chunks, ...(isLast ? this.#finish : [park])].map(chunk => {
        after += extentOf(chunk);
        return { chunk, after, isLeftPark: !isLast && chunk === park };
      });
      return lines;
    });
  }

  get #start(): Chunk {
    return { type: 'start', messageId: this.messageId };
  }

  get #finish(): Chunk[] {
    if (this.failure !== undefined) {
      return failed(this.failure);
    }
    return this.isAtLast
      ? [{ type: 'finish', finishReason: 'stop', messageMetadata: { turn: 'finished' } }]
      : [park];
  }
}

const park: Chunk = {
  type: 'finish',
  finishReason: 'tool-calls',
  messageMetadata: { turn: 'parked' },
};

function failed(error: { code: string; message: string }): Chunk[] {
  return [
    { type: 'data-error', data: error, transient: true },
    { type: 'error', errorText: `${error.code}: ${error.message}` },
  ];
}

/** The lines behind a sequence, with those sequences that can't be foreseen marked. */
function numbered(lines: Line[], from: number): NumberedChunk[] {
  let last = from;
  return lines
    .filter(({ isLeftPark }) => !isLeftPark)
    .map(({ chunk, after }) => {
      const gap = after !== last + extentOf(chunk);
      last = after;
      return { sequence: after, gap, chunk };
    });
}

/**
 * What follows a sequence, as the server sends it: what is over is not asked again and not announced
 * again, and only who has denied a call is shown that it is denied.
 */
function asHistory(lines: Line[], from: number, hasDenied: boolean | undefined): Line[] {
  const all = lines.map(({ chunk }) => chunk);
  const settled = new Set(all.filter(isOutcome).map(({ toolCallId }) => toolCallId));
  const hasInput = new Set<unknown>();
  return lines.flatMap((line, index): Line[] => {
    const { chunk, after } = line;
    const { type, toolCallId } = chunk;
    const extent = extentOf(chunk);
    const isInput = type === 'tool-input-available' || type === 'tool-input-delta';
    const isFirstInput = isInput && !hasInput.has(toolCallId);
    if (isInput) {
      hasInput.add(toolCallId);
    }
    // What counts nothing, at the very place, may be new.
    if (after < from || (after === from && extent > 0)) {
      return [];
    }
    if (after - extent < from) {
      const delta = String(chunk.delta).slice(-(after - from));
      return [{ ...line, chunk: { ...chunk, delta } }];
    }
    switch (type) {
      case 'tool-approval-request': {
        const isAnswered = all
          .slice(index + 1)
          .some(later => later.toolCallId === toolCallId && later.preliminary !== true);
        return isAnswered ? [] : [line];
      }
      case 'tool-input-available':
      case 'tool-input-delta': {
        if (!settled.has(toolCallId)) {
          return [line];
        }
        const inputTextDelta = chunk.inputTextDelta ?? JSON.stringify(chunk.input);
        const delta: Chunk = { type: 'tool-input-delta', toolCallId, inputTextDelta };
        return isFirstInput ? [{ ...line, chunk: delta }] : [];
      }
      case 'tool-output-denied': {
        const error: Chunk = { type: 'tool-output-error', toolCallId, errorText: 'Denied' };
        return [hasDenied === true ? line : { ...line, chunk: error }];
      }
      default:
        return [line];
    }
  });
}

function isOutcome({ type, preliminary }: Chunk): boolean {
  return type.startsWith('tool-output-') && preliminary !== true;
}

function merged(chunks: Chunk[]): Chunk[] {
  const out: Chunk[] = [];
  for (const chunk of chunks) {
    const last = out.at(-1);
    if (chunk.type.endsWith('-delta') && last?.type === chunk.type && last.id === chunk.id) {
      out[out.length - 1] = { ...last, delta: `${last.delta}${chunk.delta}` };
    } else {
      out.push(chunk);
    }
  }
  return out;
}
