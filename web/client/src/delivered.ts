/**
 * What a chat has been given of a message: enough to know, when the message is replayed from its
 * start, what of it is new.
 *
 * The chat itself can't be asked. So every chunk that goes to it is noted here, on top of the parts
 * that it had before.
 */
import { type Chunk, isRecord, text } from './chunk.ts';

export type BlockKind = 'text' | 'reasoning';

export type Block = {
  readonly kind: BlockKind;
  readonly id: string;
  text: string;
  /** Whether the chat takes more of it. */
  isOpen: boolean;
};

export type Step = {
  readonly blocks: Block[];
  /** Files, sources and data, each by what identifies it. */
  readonly otherParts: string[];
  isFinished: boolean;
};

export type CallState = 'streaming' | 'available' | 'asked' | 'answered' | 'settled';

export type Call = {
  readonly step: number;
  state: CallState;
  inputText: string;
  /** Whether the page was allowed to run it. */
  wasAnnounced: boolean;
  readonly approvals: Set<string>;
  approved: boolean | undefined;
  /** The outputs that it had before its last, as far as they are known. */
  readonly progress: string[];
  /** Its outcome as the page assumes it, until the server reports it. */
  optimisticOutcome: string | undefined;
};

export class Delivered {
  messageId: string | undefined;
  isStarted = false;
  /** Whether the chat has all there is: nothing follows a finish or an error. */
  isFinished = false;
  /** The first one holds what comes before any step. */
  steps: Step[] = [step()];
  calls = new Map<string, Call>();

  /** With the message that the chat continues with, if it continues with one. */
  constructor(message?: unknown) {
    if (isRecord(message) && Array.isArray(message.parts)) {
      this.messageId = text(message.id);
      for (const part of message.parts.filter(isRecord)) {
        this.#keep(part);
      }
      // A window that is open on a message has its steps before it behind it.
      for (const step of this.steps) {
        step.isFinished = true;
      }
    }
  }

  get lastStep(): number {
    return this.steps.length - 1;
  }

  /** The blocks of a kind in a step, in order. */
  block(step: number, kind: BlockKind, ordinal: number): Block | undefined {
    return this.steps[step]?.blocks.filter(block => block.kind === kind)[ordinal];
  }

  openBlock(kind: BlockKind, id: string): Block | undefined {
    for (const { blocks } of this.steps.toReversed()) {
      const open = blocks.findLast(block => block.isOpen && block.kind === kind && block.id === id);
      if (open !== undefined) {
        return open;
      }
    }
    return undefined;
  }

  /** What closes the blocks that are open. */
  endings(): Chunk[] {
    const open = this.steps.flatMap(({ blocks }) => blocks.filter(({ isOpen }) => isOpen));
    return open.map(({ kind, id }) => ({ type: `${kind}-end`, id }));
  }

  callOf(approvalId: string): Call | undefined {
    return [...this.calls.values()].find(call => call.approvals.has(approvalId));
  }

  /** Notes a chunk that the chat is given. */
  note(chunk: Chunk): void {
    const call = this.calls.get(text(chunk.toolCallId));
    switch (chunk.type) {
      case 'start':
        this.#start(chunk);
        break;
      case 'start-step':
        this.steps.push(step());
        break;
      case 'finish-step':
        this.#last.isFinished = true;
        break;
      case 'reset-step':
        this.#reset();
        break;
      case 'text-start':
      case 'reasoning-start':
        this.#last.blocks.push({
          kind: kindOf(chunk),
          id: text(chunk.id),
          text: '',
          isOpen: true,
        });
        break;
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.openBlock(kindOf(chunk), text(chunk.id));
        if (block !== undefined) {
          block.text += text(chunk.delta);
        }
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const block = this.openBlock(kindOf(chunk), text(chunk.id));
        if (block !== undefined) {
          block.isOpen = false;
        }
        break;
      }
      case 'tool-input-start':
        this.#call(chunk.toolCallId, 'streaming');
        break;
      case 'tool-input-delta':
        if (call !== undefined) {
          call.inputText += text(chunk.inputTextDelta);
        }
        break;
      case 'tool-input-available':
        this.#call(chunk.toolCallId, 'available').wasAnnounced = true;
        break;
      case 'tool-input-error':
        settle(this.#call(chunk.toolCallId, 'settled'));
        break;
      case 'tool-approval-request':
        if (call !== undefined) {
          call.state = 'asked';
          call.approved = undefined;
          call.approvals.add(text(chunk.approvalId));
        }
        break;
      case 'tool-approval-response': {
        const asked = this.callOf(text(chunk.approvalId));
        if (asked !== undefined) {
          asked.state = 'answered';
          asked.approved = chunk.approved === true;
        }
        break;
      }
      case 'tool-output-available':
        if (call !== undefined && chunk.preliminary === true) {
          call.progress.push(JSON.stringify(chunk.output));
        } else {
          settle(call);
        }
        break;
      case 'tool-output-error':
      case 'tool-output-denied':
        settle(call);
        break;
      case 'finish':
      case 'error':
        this.isFinished = true;
        break;
      default:
        if (isOther(chunk.type)) {
          this.#last.otherParts.push(keyOf(chunk));
        }
    }
  }

  get #last(): Step {
    // There is always one: the first is made with the object.
    return this.steps[this.lastStep] as Step;
  }

  #start({ messageId }: Chunk): void {
    this.isStarted = true;
    if (typeof messageId === 'string' && messageId !== this.messageId) {
      // The chat continues under another name, and what it had before is not of this message.
      this.messageId = messageId;
      this.steps = [step()];
      this.calls.clear();
    }
  }

  #reset(): void {
    this.steps[this.lastStep] = step();
    for (const [id, call] of this.calls) {
      if (call.step === this.lastStep) {
        this.calls.delete(id);
      }
    }
  }

  #call(toolCallId: unknown, state: CallState): Call {
    const id = text(toolCallId);
    const known = this.calls.get(id);
    if (known !== undefined) {
      known.state = state;
      return known;
    }
    const call: Call = {
      step: this.lastStep,
      state,
      inputText: '',
      wasAnnounced: false,
      approvals: new Set(),
      approved: undefined,
      progress: [],
      optimisticOutcome: undefined,
    };
    this.calls.set(id, call);
    return call;
  }

  /** A part that the chat had before the window opened. */
  #keep(part: Record<string, unknown>): void {
    const type = text(part.type);
    if (type === 'step-start') {
      this.steps.push(step());
    } else if (type === 'text' || type === 'reasoning') {
      this.#last.blocks.push({ kind: type, id: '', text: text(part.text), isOpen: false });
    } else if (type === 'dynamic-tool' || type.startsWith('tool-')) {
      this.#keepCall(part);
    } else {
      this.#last.otherParts.push(keyOf({ ...part, type }));
    }
  }

  #keepCall(part: Record<string, unknown>): void {
    const isProgress = part.state === 'output-available' && part.preliminary === true;
    const call = this.#call(part.toolCallId, isProgress ? 'available' : partState(part.state));
    call.inputText = text(part.rawInput);
    // A call whose input was shown while it was held is the only one that keeps its raw text.
    call.wasAnnounced = call.state !== 'streaming' && part.rawInput === undefined;
    if (part.preliminary === true) {
      call.progress.push(JSON.stringify(part.output));
    }
    if (isRecord(part.approval)) {
      call.approvals.add(text(part.approval.id));
      call.approved =
        typeof part.approval.approved === 'boolean' ? part.approval.approved : undefined;
    }
    if (call.state === 'settled') {
      call.optimisticOutcome = outcomeOf(part.state, part.output, part.errorText);
    }
  }
}

export function kindOf(chunk: Chunk): BlockKind {
  return chunk.type.startsWith('text') ? 'text' : 'reasoning';
}

/** Whether a chunk makes a part that is whole at once. */
export function isOther(type: string): boolean {
  return (
    type === 'file' ||
    type === 'reasoning-file' ||
    type === 'custom' ||
    type === 'steering-message' ||
    type.startsWith('source-') ||
    type.startsWith('data-')
  );
}

/** What identifies such a part: a source is the same under whichever id it comes. */
export function keyOf({ sourceId: _, providerMetadata: __, ...chunk }: Chunk): string {
  const fields = Object.entries(chunk).filter(([, value]) => value !== undefined);
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** An outcome, in words that can be compared. */
export function outcomeOf(state: unknown, output: unknown, errorText: unknown): string {
  return JSON.stringify([state, output ?? null, errorText ?? null]);
}

function step(): Step {
  return { blocks: [], otherParts: [], isFinished: false };
}

function settle(call: Call | undefined): void {
  if (call !== undefined) {
    call.state = 'settled';
    call.optimisticOutcome = undefined;
  }
}

function partState(state: unknown): CallState {
  switch (state) {
    case 'input-streaming':
      return 'streaming';
    case 'input-available':
      return 'available';
    case 'approval-requested':
      return 'asked';
    case 'approval-responded':
      return 'answered';
    default:
      return 'settled';
  }
}
