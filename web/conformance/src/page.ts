/** A page with a chat in it: the real client, the real transport, and what a person does. */
import type { UIMessage } from 'ai-7';
import { MemoryState } from './memory-state.ts';
import type { ChatSdk } from './sdk.ts';
import type { Act, Json } from './stream.ts';

export type PageOptions = {
  sdk: ChatSdk;
  messages: UIMessage[];
  clientTools: Record<string, Json>;
  fetch: typeof globalThis.fetch;
  generateId: () => string;
  onWrite: (message: UIMessage) => void;
};

export class Page {
  readonly state: MemoryState;

  readonly #chat: InstanceType<ReturnType<typeof memoryChat>>;
  #failure: unknown;

  constructor({ sdk, messages, clientTools, fetch, generateId, onWrite }: PageOptions) {
    this.state = new MemoryState(messages, onWrite);
    const MemoryChat = memoryChat(sdk);
    this.#chat = new MemoryChat({
      id: 'chat-1',
      state: this.state,
      generateId,
      transport: new sdk.DefaultChatTransport({ fetch }),
      sendAutomaticallyWhen: options =>
        sdk.lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
        sdk.lastAssistantMessageIsCompleteWithToolCalls(options),
      onToolCall: ({ toolCall: { toolCallId, toolName } }) => {
        if (Object.hasOwn(clientTools, toolName)) {
          // Not awaited: the client would wait for itself.
          this.#begin(
            this.#chat.addToolOutput({
              tool: toolName,
              toolCallId,
              output: clientTools[toolName],
            }),
          );
        }
      },
    });
  }

  get isBusy(): boolean {
    return this.state.status === 'submitted' || this.state.status === 'streaming';
  }

  /** The error that the chat shows, if it shows one. */
  get error(): Error | undefined {
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    return this.state.status === 'error' ? this.state.error : undefined;
  }

  say(text: string): void {
    this.#begin(this.#chat.sendMessage({ text }));
  }

  resume(): void {
    this.#begin(this.#chat.resumeStream());
  }

  perform(act: Act): void {
    const chat = this.#chat;
    if ('say' in act) {
      this.say(act.say);
    } else if ('approve' in act) {
      this.#begin(
        chat.addToolApprovalResponse({ id: act.approve, approved: true, ...reason(act) }),
      );
    } else if ('deny' in act) {
      this.#begin(chat.addToolApprovalResponse({ id: act.deny, approved: false, ...reason(act) }));
    } else if ('output' in act) {
      // The client finds the part by its call; the tool's name is there for the types.
      this.#begin(chat.addToolOutput({ tool: '', ...act.output }));
    } else {
      this.#begin(chat.addToolOutput({ tool: '', state: 'output-error', ...act.outputError }));
    }
  }

  /** The client reports what goes wrong in its status; a rejection would be a fault of ours. */
  #begin(work: void | PromiseLike<void>): void {
    Promise.resolve(work).catch(error => {
      this.#failure = error;
    });
  }
}

function reason(act: { reason?: string }): { reason?: string } {
  return act.reason === undefined ? {} : { reason: act.reason };
}

function memoryChat(sdk: ChatSdk) {
  return class MemoryChat extends sdk.AbstractChat<UIMessage> {};
}
