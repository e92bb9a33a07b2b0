/** A page that shows one durable chat, whichever framework it is made with. */
import type { UIMessage } from 'ai';
import type { Durable, DurableActions, DurableChatOptions } from '../../src/durable-chat.ts';

export type Shown = Omit<Durable, keyof DurableActions> & {
  messages: UIMessage[];
  status: string;
  error: Error | undefined;
};

export type Actions = DurableActions & {
  sendMessage: (message: { text: string }) => Promise<void>;
  addToolApprovalResponse: (response: { id: string; approved: boolean }) => unknown;
  addToolOutput: (output: { tool: string; toolCallId: string; output: unknown }) => unknown;
};

/** Mounts a page; what it draws, and what a person can do there, is given to `onShown`. */
export type Mount = (
  options: DurableChatOptions,
  onShown: (shown: Shown, actions: Actions) => void,
) => () => void;

export class DurablePage {
  #shown: Shown | undefined;
  #actions: Actions | undefined;
  readonly unmount: () => void;
  /** Whether something that was there to see was there no more. */
  sawLess = false;

  constructor(mount: Mount, options: DurableChatOptions) {
    this.unmount = mount(options, (shown, actions) => {
      this.sawLess ||= this.#shown !== undefined && textOf(shown).length < this.text.length;
      this.#shown = shown;
      this.#actions = actions;
    });
  }

  get shown(): Shown {
    if (this.#shown === undefined) {
      throw new Error('nothing was drawn yet');
    }
    return this.#shown;
  }

  get actions(): Actions {
    if (this.#actions === undefined) {
      throw new Error('nothing was drawn yet');
    }
    return this.#actions;
  }

  get isThere(): boolean {
    return this.#shown !== undefined;
  }

  get isIdle(): boolean {
    return this.isThere && this.shown.isLoaded && this.shown.status === 'ready';
  }

  /** All that is written on it. */
  get text(): string {
    return this.#shown === undefined ? '' : textOf(this.#shown);
  }

  /** Its calls, as `tool: state`. */
  get outline(): string[] {
    return this.calls.map(({ type, state }) => `${type.slice('tool-'.length)}: ${state}`);
  }

  get calls() {
    const parts = this.#shown?.messages.flatMap(message => message.parts) ?? [];
    return parts.flatMap(part => ('toolCallId' in part ? [part] : []));
  }
}

const textOf = ({ messages }: Shown) =>
  messages
    .flatMap(({ parts }) => parts.map(part => (part.type === 'text' ? part.text : '')))
    .join('\n');
