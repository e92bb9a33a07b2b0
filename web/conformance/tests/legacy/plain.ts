/** A program that speaks the legacy dialect, and does only what a test says. */
import { onTestFailed } from 'vitest';
import type { ToolRun } from '../../src/page.ts';
import type { Api } from '../../src/server/api.ts';
import { type AnswerForm, answerMessages, type Yes } from '../../src/server/legacy-answer.ts';
import { LegacySocket, type Wrapping } from '../../src/server/legacy-socket.ts';
import type { Chunk } from '../../src/stream.ts';
import { type ToolPart, toolParts } from '../../src/tool-part.ts';

let chats = 0;

export class Plain {
  readonly chat: string;
  readonly api: Api;
  readonly socket: LegacySocket;

  private constructor(api: Api, socket: LegacySocket, chat: string) {
    this.api = api;
    this.socket = socket;
    this.chat = chat;
    onTestFailed(() => {
      process.stderr.write(`\n${chat}:\n${socket.story}\n`);
    });
  }

  static async open(
    api: Api,
    { wrapping = 'flat', chat = `plain-${++chats}` }: { wrapping?: Wrapping; chat?: string } = {},
  ): Promise<Plain> {
    return new Plain(api, await LegacySocket.open(api, wrapping), chat);
  }

  /** Another socket on the same chat. */
  again(wrapping: Wrapping = 'flat'): Promise<Plain> {
    return Plain.open(this.api, { wrapping, chat: this.chat });
  }

  /** Says something as the legacy tests do: without an id, and with `content`. */
  say(text: string, chat = this.chat): void {
    const messages = [{ role: 'user', content: text }];
    this.socket.send({ type: 'message', id: chat, messages, trigger: 'submit-message' });
  }

  /** Waits until this many questions were asked, and gives the last of them. */
  async question(count = 1): Promise<ToolPart> {
    const asked = () => this.chunks('tool-approval-request');
    await this.socket.until('a question', () => {
      const isShown = this.chunks('finish-step').length >= count;
      return isShown && asked().length >= count;
    });
    const request = asked()[count - 1];
    const call = this.chunks('tool-input-available').find(
      ({ toolCallId }) => toolCallId === request?.toolCallId,
    );
    return {
      type: `tool-${call?.toolName}`,
      toolCallId: String(call?.toolCallId),
      state: 'approval-requested',
      input: call?.input,
      approval: { id: String(request?.approvalId) },
    };
  }

  /** Answers; the output of a tool that the page runs may be beside it. */
  async answer(form: AnswerForm, question: ToolPart, said: Yes, run?: ToolRun): Promise<void> {
    const messages = (await this.api.chat(this.chat))?.messages ?? [];
    const part = messages
      .flatMap(toolParts)
      .find(({ toolCallId }) => toolCallId === question.toolCallId);
    this.socket.send({
      type: 'message',
      id: this.chat,
      messages: answerMessages(
        form,
        messages,
        { ...question, input: part?.input ?? question.input },
        said,
        run,
      ),
    });
  }

  /** Waits until this many turns have ended. */
  async end(count = 1): Promise<void> {
    await this.socket.until('the end of a turn', () => this.socket.ends >= count);
    // Whatever would come too much has come by then.
    await this.socket.taken();
  }

  chunks(type: string): Chunk[] {
    return this.socket.chunks.filter(chunk => chunk.type === type);
  }

  /** What was said in texts. */
  get text(): string {
    return this.chunks('text-delta')
      .map(({ delta }) => delta)
      .join('');
  }

  /** What came, thoughts left out, and each text and its deltas as one. */
  get order(): string[] {
    return this.socket.received
      .map(received => ('chunk' in received ? received.chunk.type : '[DONE]'))
      .map(kind => (kind.startsWith('text-') ? 'text' : kind))
      .filter((kind, index, all) => !(kind === 'text' && all[index - 1] === 'text'))
      .filter(kind => !kind.startsWith('reasoning-'));
  }

  get errors(): unknown[] {
    return this.chunks('tool-output-error').map(({ errorText }) => errorText);
  }

  /** The refusals, as they came. */
  get refusals(): unknown[] {
    return this.chunks('error').map(({ errorText }) => errorText);
  }
}

/** The order of one question, up to its answer. */
export const asked = [
  'start',
  'tool-input-start',
  'tool-input-available',
  'start-step',
  'tool-approval-request',
  'finish-step',
];
