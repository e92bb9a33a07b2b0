/**
 * Where a chat is in the message that it reads, as the server counts it: docs/wire.md, "Resuming by
 * position". With it a lost window resumes where it was, on any server.
 */
import type { UIMessage } from 'ai';
import { type Chunk, isRecord, text } from './chunk.ts';

/** What a resumed request says of where its chat is. */
export type ResumePoint = {
  messageId: string;
  lastSequence: number;
  stepSequence: number;
  stepHash: number;
  approvals: ShownApproval[];
};

/** An approval that the chat shows, and what it has answered itself. */
export type ShownApproval = {
  approvalId: string;
  toolCallId: string;
  approved?: boolean | undefined;
};

/** What a frame with a chunk says of its place. */
export type NumberedChunk = { sequence: number; gap: boolean; chunk: Chunk };

const utf8 = new TextEncoder();
const hashSeed = 0x811c9dc5;

export class StreamPosition {
  messageId: string | undefined;
  /** Whether the chat has more of its message than its start. */
  hasContent = false;
  #sequence = 0;
  /** Where the chat's last step begins, or its window, and a hash of what has come since. */
  #stepSequence = 0;
  #stepHash = hashSeed;
  readonly #approvals: ShownApproval[];

  /** Takes the approvals that the chat already shows in the message. */
  constructor(approvals: ShownApproval[] = []) {
    this.#approvals = [...approvals];
  }

  /** Where the chat is; nothing, as long as no message was begun. */
  get point(): ResumePoint | undefined {
    const { messageId } = this;
    return messageId === undefined
      ? undefined
      : {
          messageId,
          lastSequence: this.#sequence,
          stepSequence: this.#stepSequence,
          stepHash: this.#stepHash,
          approvals: this.#approvals,
        };
  }

  /** Whether a chunk is the next one, was there before, or comes too early. */
  place({ sequence, gap, chunk }: NumberedChunk): 'next' | 'repeated' | 'early' {
    if (chunk.type !== 'start' && this.messageId === undefined) {
      return 'early';
    }
    if (gap || sequence === this.#sequence + extentOf(chunk)) {
      return 'next';
    }
    return sequence <= this.#sequence ? 'repeated' : 'early';
  }

  /** Counts a chunk that the chat is given. */
  note({ sequence, chunk }: NumberedChunk): void {
    this.#sequence = sequence;
    this.hasContent ||= chunk.type !== 'start';
    switch (chunk.type) {
      case 'start':
        this.messageId = text(chunk.messageId);
        this.#beginStep(sequence);
        break;
      case 'start-step':
      case 'reset-step':
        this.#beginStep(sequence);
        break;
      case 'tool-approval-request':
        this.#approvals.push({
          approvalId: text(chunk.approvalId),
          toolCallId: text(chunk.toolCallId),
        });
        break;
      default:
        this.#stepHash = hashChunk(this.#stepHash, chunk);
    }
  }

  #beginStep(sequence: number): void {
    this.#stepSequence = sequence;
    this.#stepHash = hashSeed;
  }
}

/** The approvals that a message shows now. */
export function approvalsIn({ parts }: UIMessage): ShownApproval[] {
  return parts.flatMap(part => {
    if (!('approval' in part) || part.approval === undefined) {
      return [];
    }
    const { id, approved } = part.approval;
    return [{ approvalId: id, toolCallId: part.toolCallId, approved }];
  });
}

/** By how much the sequence grows with a chunk. */
export function extentOf(chunk: Chunk): number {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return utf8.encode(text(chunk.delta)).length;
    case 'start':
    case 'reset-step':
      return 0;
    case 'tool-output-available':
      return chunk.preliminary === true ? 0 : 1;
    default:
      return chunk.transient === true ? 0 : 1;
  }
}

/** Of a step, what is the same whichever way it is sent goes in. */
function hashChunk(hash: number, chunk: Chunk): number {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return hashText(hash, text(chunk.delta));
    case 'text-start':
    case 'reasoning-start':
      return hashText(hash, chunk.type);
    case 'tool-input-start':
      return hashText(hash, text(chunk.toolCallId));
    default:
      return isWholePart(chunk) ? hashValue(hash, chunk) : hash;
  }
}

/** Whether a chunk makes a part that is whole at once. */
function isWholePart({ type, transient }: Chunk): boolean {
  return /^(file|reasoning-file|custom|source-.*|data-.*)$/.test(type) && transient !== true;
}

/** FNV-1a. */
function hashBytes(hash: number, bytes: Uint8Array): number {
  let result = hash;
  for (const byte of bytes) {
    result = Math.imul(result ^ byte, 0x01000193) >>> 0;
  }
  return result;
}

function hashText(hash: number, value: string): number {
  return hashBytes(hash, utf8.encode(value));
}

export function hashValue(hash: number, value: unknown): number {
  if (typeof value === 'number') {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setFloat64(0, value, true);
    return hashBytes(hash, new Uint8Array(bytes.buffer));
  }
  if (Array.isArray(value)) {
    return value.reduce(hashValue, hashText(hash, '['));
  }
  if (isRecord(value)) {
    const keys = Object.keys(value).sort();
    return keys.reduce(
      (sum, key) => hashValue(hashText(sum, key), value[key]),
      hashText(hash, '{'),
    );
  }
  return hashText(hash, String(value));
}
