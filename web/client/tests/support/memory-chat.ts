/** The real chat of the major that is tested, with its state in plain fields, and what a person does. */
import { AbstractChat, type ChatInit, type UIMessage } from 'ai';

import { MemoryState } from '../../../conformance/src/memory-state.ts';
import { StateWatch } from '../../../conformance/src/state-watch.ts';
import { type ToolPart, toolName, toolParts } from '../../../conformance/src/tool-part.ts';
import { untilIdle } from './idle.ts';

export type MemoryChatOptions = Omit<ChatInit<UIMessage>, 'generateId'>;

export class MemoryChat extends AbstractChat<UIMessage> {
  readonly memory: MemoryState;
  readonly watch: StateWatch;

  constructor({ messages = [], ...init }: MemoryChatOptions) {
    const watch = new StateWatch();
    // The types of the two majors differ in what they add, not in what is used here.
    const memory = new MemoryState(messages as never, watch.see);
    let generated = 0;
    super({
      ...init,
      generateId: () => `${init.id ?? 'chat'}-${++generated}`,
      state: memory as never,
    });
    this.memory = memory;
    this.watch = watch;
  }

  get isBusy(): boolean {
    return this.status === 'submitted' || this.status === 'streaming';
  }

  /** Resolves when the chat does nothing more by itself. */
  idle(): Promise<void> {
    return untilIdle({ isBusy: () => this.isBusy, activity: () => this.memory.activity });
  }

  async say(text: string): Promise<void> {
    void this.sendMessage({ text });
    await this.idle();
  }

  async answer(approved: boolean, reason?: string): Promise<void> {
    this.give(approved, reason);
    await this.idle();
  }

  /** Answers every question that is open, and does not wait for what comes of it. */
  give(approved: boolean, reason?: string): void {
    for (const part of this.calls) {
      if (part.state === 'approval-requested' && part.approval !== undefined) {
        void this.addToolApprovalResponse({
          id: part.approval.id,
          approved,
          ...(reason === undefined ? {} : { reason }),
        });
      }
    }
  }

  get calls(): ToolPart[] {
    return this.messages.flatMap(message => toolParts(message as never));
  }

  /** Its calls, as `tool: state`. */
  get outline(): string[] {
    return this.calls.map(part => `${toolName(part)}: ${part.state}`);
  }

  /** What the agent said last. */
  get text(): string {
    const last = this.messages.findLast(({ role }) => role === 'assistant');
    return (last?.parts ?? []).map(part => (part.type === 'text' ? part.text : '')).join('');
  }

  /** The messages as JSON has them, where a field that is undefined is a missing key. */
  get shown(): UIMessage[] {
    return JSON.parse(JSON.stringify(this.messages)) as UIMessage[];
  }
}
