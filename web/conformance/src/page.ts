/** A page with a chat in it: the real client, the real transport, and what a person does. */

import type { ChatTransport, UIMessage } from 'ai-7';
import { AdkStreamError } from '../../client/src/adk-stream-error.ts';
import { MemoryState } from './memory-state.ts';
import type { ChatSdk } from './sdk.ts';
import type { Act, Json } from './stream.ts';

/** A call as the client announces it to the page. */
export type AnnouncedCall = { toolCallId: string; toolName: string; input: unknown };

/** What the page says about a call that it ran. */
export type ToolRun = { output: Json } | { errorText: string };

export type PageOptions = {
  sdk: ChatSdk;
  /** The chat's id, `chat-1` if nothing is said. */
  id?: string;
  messages: UIMessage[];
  /** Runs a call that was announced; says nothing about one that is not the page's. */
  runTool: (call: AnnouncedCall) => ToolRun | undefined;
  transport: ChatTransport<UIMessage>;
  generateId: () => string;
  onWrite: (message: UIMessage) => void;
  /** Takes in data that comes in a stream, also what no message keeps. */
  onData?: (part: DataPart) => void;
};

/** Data that came in a stream. */
export type DataPart = { type: string; data: unknown };

/** What a person can do in a page, and what is seen in it, whatever the page is made of. */
export interface ChatPage {
  readonly state: Pick<MemoryState, 'messages' | 'activity'>;
  readonly isBusy: boolean;
  /** The error that the chat shows, if it shows one. */
  readonly error: Error | undefined;
  say(text: string): void;
  /** Says something else in place of an earlier message; what came after it is cut off. */
  edit(messageId: string, text: string): void;
  /** Asks for the last answer once more, or for an earlier one. */
  regenerate(messageId?: string): void;
  resume(): void;
  /** Sends the answers that were given so far. */
  sendAnswers(): void;
  /** Closes the connection. */
  stop(): void;
  answer(approvalId: string, approved: boolean, reason?: string): void;
  /** Gives the output of a call. */
  give(toolCallId: string, run: ToolRun): void;
}

export class Page implements ChatPage {
  readonly state: MemoryState;

  readonly #chat: InstanceType<ReturnType<typeof memoryChat>>;
  #failure: unknown;

  constructor({
    sdk,
    id = 'chat-1',
    messages,
    runTool,
    transport,
    generateId,
    onWrite,
    onData = () => {},
  }: PageOptions) {
    this.state = new MemoryState(messages, onWrite);
    const MemoryChat = memoryChat(sdk);
    this.#chat = new MemoryChat({
      id,
      state: this.state,
      generateId,
      transport,
      onData,
      sendAutomaticallyWhen: options =>
        sdk.lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
        sdk.lastAssistantMessageIsCompleteWithToolCalls(options),
      onToolCall: ({ toolCall: { toolCallId, toolName, input } }) => {
        const run = runTool({ toolCallId, toolName, input });
        if (run !== undefined) {
          this.give(toolCallId, run);
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
    return this.state.status === 'error' ? inOneText(this.state.error) : undefined;
  }

  say(text: string): void {
    this.#begin(this.#chat.sendMessage({ text }));
  }

  /** Sends a message of any parts. */
  send(parts: UIMessage['parts']): void {
    this.#begin(this.#chat.sendMessage({ role: 'user', parts }));
  }

  /** Says something else in place of an earlier message; what came after it is cut off. */
  edit(messageId: string, text: string): void {
    this.#begin(this.#chat.sendMessage({ text, messageId }));
  }

  /** Asks for the last answer once more, or for an earlier one. */
  regenerate(messageId?: string): void {
    this.#begin(this.#chat.regenerate(messageId === undefined ? {} : { messageId }));
  }

  resume(): void {
    this.#begin(this.#chat.resumeStream());
  }

  /** Sends the answers that were given so far, whatever the predicates say. */
  sendAnswers(): void {
    this.#begin(this.#chat.sendMessage());
  }

  /** Closes the connection; the client does no more than that. */
  stop(): void {
    this.#begin(this.#chat.stop());
  }

  answer(approvalId: string, approved: boolean, reason?: string): void {
    this.#begin(
      this.#chat.addToolApprovalResponse({
        id: approvalId,
        approved,
        ...(reason === undefined ? {} : { reason }),
      }),
    );
  }

  /** Gives the output of a call. Not awaited: inside `onToolCall` the client would wait for itself. */
  give(toolCallId: string, run: ToolRun): void {
    // The client finds the part by its call; the tool's name is there for the types.
    const call = { tool: '', toolCallId };
    this.#begin(
      this.#chat.addToolOutput(
        'output' in run
          ? { ...call, output: run.output }
          : { ...call, state: 'output-error', errorText: run.errorText },
      ),
    );
  }

  perform(act: Act): void {
    if ('say' in act) {
      this.say(act.say);
    } else if ('approve' in act) {
      this.answer(act.approve, true, act.reason);
    } else if ('deny' in act) {
      this.answer(act.deny, false, act.reason);
    } else if ('output' in act) {
      this.give(act.output.toolCallId, { output: act.output.output });
    } else {
      this.give(act.outputError.toolCallId, { errorText: act.outputError.errorText });
    }
  }

  /** The client reports what goes wrong in its status; a rejection would be a fault of ours. */
  #begin(work: void | PromiseLike<void>): void {
    Promise.resolve(work).catch(error => {
      this.#failure = error;
    });
  }
}

function memoryChat(sdk: ChatSdk) {
  return class MemoryChat extends sdk.AbstractChat<UIMessage> {};
}

/** Our own client has the code beside the message; others have both in the text, as the server sends it. */
function inOneText(error: Error | undefined): Error | undefined {
  return error instanceof AdkStreamError && error.code !== ''
    ? new Error(`${error.code}: ${error.message}`)
    : error;
}
