/**
 * A turn as the server keeps it: windows that open one after the other, and the whole of it replayed
 * to a client that comes back.
 */
import type { Chunk } from '../../src/chunk.ts';

/** How a turn is replayed: as it was, or as the server may do it as well. */
export type ReplayForm = { mergesDeltas?: boolean; renamesBlocks?: boolean };

export class FakeTurn {
  readonly messageId: string;
  /** What each window contains, without its start and its finish. */
  readonly windows: Chunk[][];
  /** How many of them were opened. */
  opened = 0;

  constructor(messageId: string, windows: Chunk[][]) {
    this.messageId = messageId;
    this.windows = windows;
  }

  get isAtLast(): boolean {
    return this.opened === this.windows.length;
  }

  /** The window that was opened last. */
  get current(): Chunk[] {
    return [this.#start, ...(this.windows[this.opened - 1] ?? []), this.#finish];
  }

  /** All of it, for a client that has seen nothing. */
  replay({ mergesDeltas = false, renamesBlocks = false }: ReplayForm): Chunk[] {
    const all = this.windows.slice(0, this.opened).flat();
    let chunks = asHistory(all);
    if (mergesDeltas) {
      chunks = merged(chunks);
    }
    if (renamesBlocks) {
      chunks = renamed(chunks);
    }
    return [this.#start, ...chunks, this.#finish];
  }

  get #start(): Chunk {
    return { type: 'start', messageId: this.messageId };
  }

  get #finish(): Chunk {
    return {
      type: 'finish',
      finishReason: this.isAtLast ? 'stop' : 'tool-calls',
      messageMetadata: { turn: this.isAtLast ? 'finished' : 'parked' },
    };
  }
}

/** As the server does it: what is over is not asked again and not announced again. */
function asHistory(all: Chunk[]): Chunk[] {
  const settled = new Set(all.filter(isOutcome).map(({ toolCallId }) => toolCallId));
  const lastAsked = new Map(
    all
      .filter(({ type }) => type === 'tool-approval-request')
      .map(({ toolCallId, approvalId }) => [toolCallId, approvalId]),
  );
  const hasInput = new Set<unknown>();
  return all.flatMap((chunk, index): Chunk[] => {
    const { type, toolCallId } = chunk;
    const isLater = all.slice(index + 1);
    switch (type) {
      case 'tool-approval-request': {
        const isAnswered = isLater.some(
          later => later.toolCallId === toolCallId && later.preliminary !== true,
        );
        return isAnswered || lastAsked.get(toolCallId) !== chunk.approvalId ? [] : [chunk];
      }
      case 'tool-input-available':
      case 'tool-input-delta': {
        if (!settled.has(toolCallId)) {
          return [chunk];
        }
        const isFirst = !hasInput.has(toolCallId);
        hasInput.add(toolCallId);
        const inputTextDelta = chunk.inputTextDelta ?? JSON.stringify(chunk.input);
        return isFirst ? [{ type: 'tool-input-delta', toolCallId, inputTextDelta }] : [];
      }
      case 'tool-output-denied':
        return [{ type: 'tool-output-error', toolCallId, errorText: 'Denied' }];
      default:
        return [chunk];
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

function renamed(chunks: Chunk[]): Chunk[] {
  return chunks.map(chunk =>
    /^(text|reasoning)-/.test(chunk.type) ? { ...chunk, id: `again-${chunk.id}` } : chunk,
  );
}
