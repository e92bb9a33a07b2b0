/**
 * A message that is replayed from its start, to a chat that has some of it.
 *
 * Steps and blocks are matched by their places, calls by their ids; what the chat lacks is passed
 * on, under the ids that the chat has open. The replay need not be the first stream word by word:
 * deltas may be merged, blocks may have other ids, and a call that is over comes as history, its
 * question left out. And it continues when it has caught up, so that what follows live comes through
 * the same way.
 */
import { type Chunk, text } from './chunk.ts';
import {
  type Block,
  type Call,
  type Delivered,
  isOther,
  keyOf,
  kindOf,
  outcomeOf,
} from './delivered.ts';

/** The server replays something else than what the chat was given before. */
export class Diverged extends Error {}

/** It is another message than the chat's: the chat's own is over. */
export class OtherMessage extends Error {}

/** A replayed block: its counterpart in the chat, and how much of that was matched. */
type MatchedBlock = { block: Block; matched: number };

export class Replay {
  readonly #delivered: Delivered;
  readonly #canReset: boolean;
  #out: Chunk[] = [];
  #step = 0;
  /** The chunks of the step that is replayed. */
  #log: Chunk[] = [];
  #matchedBlocks = new Map<string, MatchedBlock>();
  #counts = new Map<string, number>();
  #unmatched: string[];
  /** Calls of steps that the replay has finished. */
  #past = new Set<string>();
  #present = new Set<string>();
  #inputs = new Map<string, number>();
  #progress = new Map<string, number>();

  /**
   * `canReset` is whether the chat understands `reset-step`, and so can be made to forget a step that
   * the server began again.
   */
  constructor(delivered: Delivered, { canReset = false }: { canReset?: boolean } = {}) {
    this.#delivered = delivered;
    this.#canReset = canReset;
    this.#unmatched = [...(delivered.steps[0]?.otherParts ?? [])];
  }

  /** What the chat is to be given of a chunk, which it counts as given. */
  take(chunk: Chunk): Chunk[] {
    this.#out = [];
    try {
      this.#match(chunk);
    } catch (error) {
      if (!(error instanceof Diverged) || !this.#canReset || !this.#isLast) {
        throw error;
      }
      this.#beginAnew();
      this.#match(chunk);
    }
    if (chunk.type !== 'start-step') {
      this.#log.push(chunk);
    }
    return this.#out;
  }

  #emit(chunk: Chunk): void {
    this.#delivered.note(chunk);
    this.#out.push(chunk);
  }

  /** Whether the step that is replayed is the one that the chat is in. */
  get #isLast(): boolean {
    return this.#step === this.#delivered.lastStep;
  }

  #beginAnew(): void {
    const log = this.#log;
    this.#resetStep();
    for (const chunk of log) {
      this.#match(chunk);
    }
    this.#log = log;
  }

  #resetStep(): void {
    for (const id of this.#present) {
      this.#inputs.delete(id);
      this.#progress.delete(id);
    }
    this.#enter([]);
    this.#emit({ type: 'reset-step' });
  }

  #enter(unmatched: string[]): void {
    this.#log = [];
    this.#matchedBlocks.clear();
    this.#counts.clear();
    this.#present.clear();
    this.#unmatched = unmatched;
  }

  #match(chunk: Chunk): void {
    switch (chunk.type) {
      case 'start':
        this.#start(chunk);
        break;
      case 'start-step':
        this.#startStep(chunk);
        break;
      case 'finish-step':
        this.#finishStep(chunk);
        break;
      case 'reset-step':
        this.#expectLast();
        this.#resetStep();
        break;
      case 'text-start':
      case 'reasoning-start':
        this.#startBlock(chunk);
        break;
      case 'text-delta':
      case 'reasoning-delta':
        this.#growBlock(chunk);
        break;
      case 'text-end':
      case 'reasoning-end':
        this.#endBlock(chunk);
        break;
      default:
        if (chunk.type.startsWith('tool-')) {
          this.#matchCall(chunk);
        } else if (isOther(chunk.type)) {
          this.#matchOther(chunk);
        } else {
          this.#emit(chunk);
        }
    }
  }

  #start(chunk: Chunk): void {
    const { messageId } = this.#delivered;
    if (messageId !== undefined && typeof chunk.messageId === 'string') {
      if (chunk.messageId !== messageId) {
        throw new OtherMessage();
      }
    }
    if (!this.#delivered.isStarted) {
      this.#emit(chunk);
    } else if (chunk.messageMetadata !== undefined) {
      this.#emit({ type: 'message-metadata', messageMetadata: chunk.messageMetadata });
    }
  }

  #startStep(chunk: Chunk): void {
    this.#step++;
    this.#enter([...(this.#delivered.steps[this.#step]?.otherParts ?? [])]);
    if (this.#step > this.#delivered.lastStep) {
      this.#emit(chunk);
    }
  }

  #finishStep(chunk: Chunk): void {
    for (const call of this.#present) {
      this.#past.add(call);
    }
    if (this.#isLast && this.#delivered.steps[this.#step]?.isFinished === false) {
      this.#emit(chunk);
    }
  }

  #startBlock(chunk: Chunk): void {
    const kind = kindOf(chunk);
    const ordinal = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, ordinal + 1);
    if (this.#delivered.block(this.#step, kind, ordinal) === undefined) {
      this.#expectLast();
      this.#emit({ ...chunk, id: this.#freeId(kind, text(chunk.id)) });
    }
    const block = this.#delivered.block(this.#step, kind, ordinal);
    if (block !== undefined) {
      this.#matchedBlocks.set(`${kind} ${text(chunk.id)}`, { block, matched: 0 });
    }
  }

  /** An id that the chat has not open: two blocks that are open at once must differ. */
  #freeId(kind: Block['kind'], id: string): string {
    return this.#delivered.openBlock(kind, id) === undefined ? id : this.#freeId(kind, `${id}'`);
  }

  #growBlock(chunk: Chunk): void {
    const match = this.#matchedBlock(chunk);
    const delta = text(chunk.delta);
    const { block, matched } = match;
    const known = block.text.slice(matched, matched + delta.length);
    match.matched += delta.length;
    if (!delta.startsWith(known)) {
      throw new Diverged();
    }
    if (known.length < delta.length) {
      if (!block.isOpen) {
        throw new Diverged();
      }
      this.#emit({ ...chunk, id: block.id, delta: delta.slice(known.length) });
    }
  }

  #endBlock(chunk: Chunk): void {
    const { block, matched } = this.#matchedBlock(chunk);
    if (matched < block.text.length) {
      throw new Diverged();
    }
    if (block.isOpen) {
      this.#emit({ ...chunk, id: block.id });
    }
  }

  #matchedBlock(chunk: Chunk): MatchedBlock {
    const match = this.#matchedBlocks.get(`${kindOf(chunk)} ${text(chunk.id)}`);
    if (match === undefined) {
      throw new Diverged();
    }
    return match;
  }

  #matchOther(chunk: Chunk): void {
    // Data with an id replaces the data with that id: the last one has to come last.
    const isReplaced = chunk.type.startsWith('data-') && chunk.id !== undefined;
    if (isReplaced && chunk.transient !== true) {
      this.#emit(chunk);
      return;
    }
    const key = keyOf(chunk);
    const index = this.#unmatched.indexOf(key);
    if (index >= 0) {
      this.#unmatched.splice(index, 1);
    } else if (this.#isLast) {
      this.#emit(chunk);
    }
    // In a step that the chat has left, it can only be something transient that it did not keep.
  }

  #matchCall(chunk: Chunk): void {
    const id = text(chunk.toolCallId);
    const call = this.#delivered.calls.get(id);
    switch (chunk.type) {
      case 'tool-input-start':
        this.#present.add(id);
        if (call === undefined) {
          this.#expectLast();
          this.#emit(chunk);
        }
        break;
      case 'tool-input-delta':
        if (call?.state === 'streaming') {
          this.#growInput(id, call, chunk);
        }
        break;
      case 'tool-input-available':
        this.#present.add(id);
        if (call === undefined || this.#isNewsToPage(id, call)) {
          this.#expectLast();
          this.#emit(chunk);
        }
        break;
      case 'tool-input-error':
        if (call?.state !== 'settled') {
          this.#expectLast();
          this.#emit(chunk);
        }
        break;
      case 'tool-approval-request': {
        const isKnown = call?.state === 'settled' || call?.approvals.has(text(chunk.approvalId));
        if (call !== undefined && !isKnown) {
          this.#emit(chunk);
        }
        break;
      }
      case 'tool-approval-response': {
        const asked = this.#delivered.callOf(text(chunk.approvalId));
        if (asked?.state === 'asked') {
          this.#emit(chunk);
        }
        break;
      }
      default:
        if (call !== undefined) {
          this.#matchOutcome(id, call, chunk);
        }
    }
  }

  /**
   * Whether a page that gets a call now is to run it, if it is a page's: it was not announced before,
   * or the call was held by a question and is released. Such a call is announced after its step.
   */
  #isNewsToPage(id: string, call: Call): boolean {
    switch (call.state) {
      case 'streaming':
        return true;
      case 'asked':
      case 'answered':
        return !call.wasAnnounced || this.#past.has(id);
      default:
        return false;
    }
  }

  #growInput(id: string, call: Call, chunk: Chunk): void {
    const matched = this.#inputs.get(id) ?? 0;
    const delta = text(chunk.inputTextDelta);
    this.#inputs.set(id, matched + delta.length);
    const known = call.inputText.slice(matched, matched + delta.length);
    if (!delta.startsWith(known)) {
      throw new Diverged();
    }
    if (known.length < delta.length) {
      this.#emit({ ...chunk, inputTextDelta: delta.slice(known.length) });
    }
  }

  #matchOutcome(id: string, call: Call, replayed: Chunk): void {
    if (replayed.type === 'tool-output-available' && replayed.preliminary === true) {
      this.#matchProgress(id, call, replayed);
      return;
    }
    // A client that has seen nothing gets a denial as an error; no client accepts one after its own
    // denial.
    const chunk: Chunk =
      replayed.type === 'tool-output-error' && call.approved === false
        ? { type: 'tool-output-denied', toolCallId: id }
        : replayed;
    if (call.state !== 'settled') {
      this.#emit(chunk);
    } else if (call.optimisticOutcome !== undefined) {
      // What the page did itself and the server may know better.
      const outcome = outcomeOf(chunk.type.slice('tool-'.length), chunk.output, chunk.errorText);
      const isDenied = call.optimisticOutcome.startsWith('["output-denied"');
      if (!isDenied && outcome !== call.optimisticOutcome) {
        this.#emit(chunk);
      }
    }
  }

  /** Of a message that the chat had before, only the last output is known: those before it are old. */
  #matchProgress(id: string, call: Call, replayed: Chunk): void {
    const matched = this.#progress.get(id) ?? 0;
    if (matched === call.progress.length) {
      if (call.state !== 'settled') {
        this.#emit(replayed);
        this.#progress.set(id, call.progress.length);
      }
    } else if (call.progress[matched] === JSON.stringify(replayed.output)) {
      this.#progress.set(id, matched + 1);
    }
  }

  /** A part can be added only to the step that the chat is in. */
  #expectLast(): void {
    if (!this.#isLast) {
      throw new Diverged();
    }
  }
}
