/**
 * A page of the legacy dialect, without a chat client: it sends the dialect's frames by hand, shows what
 * what it gets by folding it into messages, and sends nothing by itself but the outputs of its tools.
 *
 * Pages differed: that of version 6 here sends flat frames with the history, answers in the assistant
 * message itself and gives outputs by `tool_result`; that of version 7 wraps its fields in `data`,
 * sends no history, and answers in a user message that holds the answer and the output.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { UIMessage } from 'ai-7';
import { MemoryState } from '../memory-state.ts';
import { MessageFold } from '../message-fold.ts';
import type { AnnouncedCall, ChatPage, ToolRun } from '../page.ts';
import { chatSdks, type Major } from '../sdk.ts';
import type { Chunk } from '../stream.ts';
import { type ToolPart, toolName, toolParts } from '../tool-part.ts';
import type { Api } from './api.ts';
import type { ChatRequest } from './connection.ts';
import { type AnswerForm, answerMessages, failureMessages, resultPart } from './legacy-answer.ts';
import { LegacyConnection, type TurnStream } from './legacy-connection.ts';
import type { Wrapping } from './legacy-socket.ts';
import type { Script } from './script.ts';

/** The dialect shows these with their input before anybody allowed them; the page knows to wait. */
const asksFirst = new Set(['get_location']);

const pollMilliseconds = 5;

type Style = { wrapping: Wrapping; form: AnswerForm; sendsHistory: boolean };

const styles: Readonly<Record<Major, Style>> = {
  '6': { wrapping: 'flat', form: 'message', sendsHistory: true },
  '7': { wrapping: 'wrapped', form: 'confirmation', sendsHistory: false },
};

export type LegacyPageOptions = {
  major: Major;
  id: string;
  api: Api;
  script: Script;
  messages: UIMessage[];
  runTool: (call: AnnouncedCall) => ToolRun | undefined;
  generateId: () => string;
  onWrite: (message: UIMessage) => void;
};

export class LegacyPage implements ChatPage {
  readonly state: MemoryState;
  readonly connection: LegacyConnection;

  readonly #options: LegacyPageOptions;
  readonly #style: Style;
  readonly #folds = new Map<string, MessageFold>();
  /** Texts and thoughts that came, by message: what is repeated is not shown again. */
  readonly #shown = new Map<string, Set<string>>();
  /** Messages that were cut off by an edit or a regeneration. */
  readonly #forgotten = new Set<string>();
  /** What comes and what the page does, in the order in which it happened. */
  #work: Promise<void> = Promise.resolve();
  #isParked = false;
  #error: Error | undefined;

  constructor(options: LegacyPageOptions) {
    this.#options = options;
    this.#style = styles[options.major];
    this.state = new MemoryState(options.messages, options.onWrite);
    this.#know(options.messages);
    this.connection = new LegacyConnection(options.api, options.script, this.#style.wrapping, {
      onChunk: this.#receive,
      onEnd: stream => this.#do(() => this.#foldOf(stream.messageId).close()),
      onError: this.#fail,
    });
  }

  get isBusy(): boolean {
    return this.connection.isWaiting && !this.#isParked;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  say(text: string): void {
    const message = this.#message(this.#options.generateId(), text);
    this.state.pushMessage(message);
    this.#post([message]);
  }

  /** There is no word for an edit: a message of a known id that says something else is one. */
  edit(messageId: string, text: string): void {
    const message = this.#message(messageId, text);
    const index = this.state.messages.findIndex(({ id }) => id === messageId);
    this.#cut(index);
    this.state.pushMessage(message);
    this.#post([message], { messageId });
  }

  regenerate(messageId?: string): void {
    const { messages } = this.state;
    const index = messages.findLastIndex(
      ({ id, role }) => role === 'assistant' && (messageId === undefined || id === messageId),
    );
    const last = messages[index] ?? messages.at(-1);
    this.#cut(index < 0 ? messages.length : index);
    this.#post(this.state.messages.slice(-1), {
      trigger: 'regenerate-message',
      ...(last && { messageId: last.id }),
    });
  }

  /**
   * No frame asks for a turn that is there: a page that comes back reads the chat by HTTP, and runs
   * what it finds open. It sends the output in a message, which opens a stream on its socket.
   */
  resume(): void {
    this.#do(async () => {
      const { api, id, script } = this.#options;
      const chat = await api.chat(id);
      if (chat?.status === 'running') {
        throw new Error('this dialect has no frame that asks for a running turn');
      }
      if (chat?.status !== 'parked') {
        this.connection.nothingToResume++;
        return;
      }
      this.#folds.clear();
      this.state.messages = chat.messages;
      this.#know(chat.messages);
      script.note({ messages: structuredClone(chat.messages) });
      for (const part of toolParts(chat.messages.at(-1) ?? { id: '', role: 'user', parts: [] })) {
        await this.#runLate(part, chat.messages.at(-1)?.id ?? '');
      }
    });
  }

  async #runLate(part: ToolPart, messageId: string): Promise<void> {
    const { toolCallId, state, input, approval } = part;
    // In a chat that is served, a call has its whole input only where it may run.
    const isOpen =
      state === 'input-available' ||
      (state === 'approval-responded' && approval?.approved === true);
    const call = { toolCallId, toolName: toolName(part), input };
    const run = isOpen ? this.#options.runTool(call) : undefined;
    if (run !== undefined) {
      await this.#show(messageId, toolCallId, run);
      this.#postAnswer([{ role: 'user', parts: [resultPart(part, run)] }], messageId);
    }
  }

  /** Answers are sent as they are given. */
  sendAnswers(): void {}

  stop(): void {
    this.#do(() => this.connection.close());
  }

  interrupt(reason?: string): void {
    this.connection.send({ type: 'interrupt', ...(reason !== undefined && { reason }) });
  }

  answer(approvalId: string, approved: boolean, reason?: string): void {
    this.#do(async () => {
      const { part, messageId } = await this.#question(approvalId);
      const isOpen = part.state === 'approval-requested';
      const call = { toolCallId: part.toolCallId, toolName: toolName(part), input: part.input };
      const runs = isOpen && approved && asksFirst.has(call.toolName);
      const run = runs ? this.#options.runTool(call) : undefined;
      const beside = this.#style.form === 'message' ? undefined : run;
      const { form } = this.#style;
      const said = { approved, reason };
      const answer = answerMessages(form, this.state.messages, part, said, beside);
      if (isOpen) {
        await this.#change(messageId, part.toolCallId, own => {
          own.state = 'approval-responded';
          own.approval = { id: approvalId, approved, ...(reason !== undefined && { reason }) };
        });
      }
      if (beside !== undefined) {
        await this.#show(messageId, call.toolCallId, beside);
      }
      this.#postAnswer(answer, messageId);
      if (run !== undefined && beside === undefined) {
        await this.#give(call.toolCallId, run);
      }
    });
  }

  give(toolCallId: string, run: ToolRun): void {
    this.#do(() => this.#give(toolCallId, run));
  }

  async #give(toolCallId: string, run: ToolRun): Promise<void> {
    const { part, messageId } = this.#call(toolCallId);
    await this.#show(messageId, toolCallId, run);
    if ('output' in run) {
      this.connection.send({ type: 'tool_result', toolCallId, result: run.output });
    } else {
      this.#postAnswer(failureMessages(part, run.errorText), messageId);
    }
  }

  /** Resolves when the page shows all that there is, until somebody does something. */
  async settle(): Promise<void> {
    for (;;) {
      await this.#work;
      await this.connection.taken();
      if (await this.#isUpToDate()) {
        return;
      }
      await pause(pollMilliseconds);
    }
  }

  async #isUpToDate(): Promise<boolean> {
    const { connection } = this;
    const [stream] = connection.openStreams;
    if (connection.awaitsStart) {
      return false;
    }
    if (stream !== undefined) {
      // This dialect has no word for a turn that waits, where it waits for a page.
      const chat = await this.#options.api.chat(this.#options.id);
      const served = chat?.messages.at(-1);
      if (chat?.status !== 'parked' || served?.id !== stream.messageId) {
        return false;
      }
      if (!isShown(served, this.state.messages)) {
        return false;
      }
      this.#isParked = true;
    }
    await this.#work;
    return true;
  }

  readonly #receive = (stream: TurnStream, chunk: Chunk): void => {
    this.#isParked = false;
    if (chunk.type === 'error') {
      return;
    }
    if (this.#isShown(stream, chunk)) {
      return;
    }
    this.#tell(stream, chunk);
    if (stream.isRepeat && chunk.type === 'start') {
      // What was cut off in the middle comes from its start.
      this.#options.script.note({ dropUnfinished: stream.messageId });
      this.#do(() => this.#foldOf(stream.messageId).change(dropUnfinished));
    }
    this.connection.recordOf(stream).text += `data: ${JSON.stringify(chunk)}\n\n`;
    this.#do(() => this.#foldOf(stream.messageId).feed(chunk));
    const { type, toolCallId, input } = chunk;
    const name = String(chunk.toolName);
    if (type === 'tool-input-available' && !asksFirst.has(name)) {
      this.#do(async () => {
        const call = { toolCallId: String(toolCallId), toolName: name, input };
        const run = this.#options.runTool(call);
        if (run !== undefined) {
          await this.#foldOf(stream.messageId).close();
          await this.#give(call.toolCallId, run);
        }
      });
    }
  };

  /** Whether the page has it: a stream may repeat a turn, from its last question on. */
  #isShown({ messageId, isRepeat }: TurnStream, chunk: Chunk): boolean {
    const { type, id, toolCallId, approvalId } = chunk;
    const shown = this.#shown.get(messageId);
    switch (type) {
      case 'start-step':
      case 'finish-step':
        // Whose step it is shows only later, and to a page that gets it again it does not matter.
        return isRepeat;
      case 'tool-input-start':
      case 'tool-input-available':
        return isRepeat && (shown?.has(`input of ${toolCallId}`) ?? false);
      case 'tool-approval-request':
        return shown?.has(String(approvalId)) ?? false;
      case 'tool-output-available':
      case 'tool-output-error':
        return shown?.has(`output of ${toolCallId}`) ?? false;
      default:
        return isRepeat && typeof id === 'string' && (shown?.has(id) ?? false);
    }
  }

  #tell({ messageId }: TurnStream, { type, id, toolCallId, approvalId, preliminary }: Chunk): void {
    const shown = this.#shownOf(messageId);
    if (type === 'text-end' || type === 'reasoning-end') {
      shown.add(String(id));
    } else if (type === 'tool-approval-request') {
      shown.add(String(approvalId));
    } else if (type === 'tool-input-available') {
      shown.add(`input of ${toolCallId}`);
    } else if (type.startsWith('tool-output-') && preliminary !== true) {
      shown.add(`output of ${toolCallId}`);
    }
  }

  /** What was loaded need not come again. */
  #know(messages: UIMessage[]): void {
    for (const message of messages) {
      for (const { toolCallId, state, preliminary } of toolParts(message)) {
        if (state.startsWith('output-') && preliminary !== true) {
          this.#shownOf(message.id).add(`output of ${toolCallId}`);
        }
      }
    }
  }

  #shownOf(messageId: string): Set<string> {
    const shown = this.#shown.get(messageId) ?? new Set();
    this.#shown.set(messageId, shown);
    return shown;
  }

  /** The call that a question was about; the page may show a later question of it by now. */
  async #question(approvalId: string): Promise<{ part: ToolPart; messageId: string }> {
    const isAsked = (part: ToolPart) => part.approval?.id === approvalId;
    const asked = this.state.messages.flatMap(toolParts).find(isAsked);
    const request = this.connection.streams
      .flatMap(({ chunks }) => chunks)
      .find(chunk => chunk.approvalId === approvalId);
    const found = this.#call(asked?.toolCallId ?? String(request?.toolCallId));
    const fold = this.#foldOf(found.messageId);
    // A turn that speaks waits for nobody.
    const isOver = fold.isSpeaking;
    if (!isOver) {
      await fold.close();
    }
    const { part, messageId } = this.#call(found.part.toolCallId);
    const isLater = isOver || !isAsked(part);
    return {
      part: isLater ? { ...part, state: 'settled', approval: { id: approvalId } } : part,
      messageId,
    };
  }

  #call(toolCallId: string): { part: ToolPart; messageId: string } {
    for (const message of this.state.messages) {
      const part = toolParts(message).find(part => part.toolCallId === toolCallId);
      if (part !== undefined) {
        return { part, messageId: message.id };
      }
    }
    throw new Error(`there is no call ${toolCallId}`);
  }

  /** Forgets the messages from one on. Their streams come to their ends all the same. */
  #cut(index: number): void {
    for (const { id } of this.state.messages.slice(index)) {
      this.#forgotten.add(id);
    }
    this.state.messages = this.state.messages.slice(0, index);
  }

  readonly #fail = (text: string): void => {
    this.state.activity++;
    this.#error = new Error(text);
  };

  #message(id: string, text: string): UIMessage {
    return { id, role: 'user', parts: [{ type: 'text', text }] };
  }

  /** Sends messages, after those that came before if this page does that. */
  #post(
    messages: UIMessage[],
    about: Pick<ChatRequest, 'messageId'> & { trigger?: ChatRequest['trigger'] } = {},
  ): void {
    this.#error = undefined;
    const { id } = this.#options;
    const sent = this.#style.sendsHistory ? this.state.messages : messages;
    const request = { id, messages: structuredClone(sent), trigger: 'submit-message' as const };
    this.connection.post({ ...request, ...about }, sent);
  }

  #postAnswer(messages: unknown[], about?: string): void {
    this.#error = undefined;
    const { id } = this.#options;
    const copy = structuredClone(messages) as UIMessage[];
    const place = this.state.messages.findIndex(({ id }) => id === about);
    if (place >= 0 && place + 1 < this.state.messages.length) {
      // What comes continues with an older message, as if that were the last.
      const upTo = this.state.messages.slice(0, place + 1);
      this.#options.script.note({ messages: structuredClone(upTo) });
    }
    this.connection.post({ id, messages: copy, trigger: 'submit-message' }, messages, about);
  }

  #show(messageId: string, toolCallId: string, run: ToolRun): Promise<void> {
    return this.#change(messageId, toolCallId, own => {
      if (own.state.startsWith('output-')) {
        // It was given up, or run elsewhere, and the page got that.
        return;
      }
      if ('output' in run) {
        Object.assign(own, { state: 'output-available', output: run.output });
      } else {
        Object.assign(own, { state: 'output-error', errorText: run.errorText });
      }
    });
  }

  #change(messageId: string, toolCallId: string, change: (part: ToolPart) => void): Promise<void> {
    this.connection.turnThePage(messageId);
    return this.#foldOf(messageId).change(message => {
      const part = toolParts(message).find(part => part.toolCallId === toolCallId);
      if (part !== undefined) {
        change(part);
      }
    });
  }

  #do(work: () => void | Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#fail(String(error)));
  }

  #foldOf(messageId: string): MessageFold {
    const known = this.#folds.get(messageId);
    if (known !== undefined) {
      return known;
    }
    const fold = new MessageFold({
      sdk: chatSdks[this.#options.major],
      message: this.state.messages.find(({ id }) => id === messageId),
      onWrite: this.#write,
      onError: error => this.#fail(`the reader of streams: ${error}`),
    });
    this.#folds.set(messageId, fold);
    return fold;
  }

  readonly #write = (message: UIMessage): void => {
    if (this.#forgotten.has(message.id)) {
      return;
    }
    const shown = inWordsOfThePage(message);
    const index = this.state.messages.findIndex(({ id }) => id === message.id);
    if (index < 0) {
      this.state.pushMessage(shown);
    } else {
      this.state.replaceMessage(index, shown);
    }
  };
}

/** In this dialect a denial is an error; but a page knows whether its person said no. */
function inWordsOfThePage(message: UIMessage): UIMessage {
  const shown = structuredClone(message);
  for (const part of toolParts(shown)) {
    if (part.state === 'output-error' && part.approval?.approved === false) {
      part.state = 'output-denied';
      delete part.errorText;
    }
  }
  return shown;
}

function dropUnfinished(message: UIMessage): void {
  message.parts = message.parts.filter(part => !('state' in part && part.state === 'streaming'));
}

/** Whether a page shows the calls of a message as far as they have come, and its texts. */
function isShown(served: UIMessage, messages: UIMessage[]): boolean {
  const own = messages.find(({ id }) => id === served.id);
  return (
    own !== undefined &&
    toolParts(served).every(part => {
      const shown = toolParts(own).find(({ toolCallId }) => toolCallId === part.toolCallId);
      return shown !== undefined && hasCome(shown, part);
    })
  );
}

function hasCome(shown: ToolPart, served: ToolPart): boolean {
  if (served.preliminary === true) {
    return shown.state !== 'input-streaming';
  }
  switch (served.state) {
    case 'approval-requested':
      return shown.approval?.id === served.approval?.id;
    case 'output-available':
    case 'output-error':
    case 'output-denied':
      return shown.state.startsWith('output-') && shown.preliminary !== true;
    default:
      return shown.state !== 'input-streaming';
  }
}
