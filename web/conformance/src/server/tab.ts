/** A browser's tab on a chat: the real client on the real server, and what a person does in it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { UIMessage } from 'ai-7';
import { untilIdle } from '../idle.ts';
import { type AnnouncedCall, type ChatPage, type DataPart, Page, type ToolRun } from '../page.ts';
import type { Profile } from '../schema-sdks.ts';
import { chatSdks, type Major } from '../sdk.ts';
import { StateWatch } from '../state-watch.ts';
import { callsOf, type ToolPart, toolName } from '../tool-part.ts';
import { Api } from './api.ts';
import { type Check, check } from './checker.ts';
import { type Connection, cutsHistory, type Sends, type Transport } from './connection.ts';
import { FetchConnection } from './fetch-connection.ts';
import { LegacyPage } from './legacy-page.ts';
import { Script, type WindowRecord } from './script.ts';
import type { Server } from './server.ts';
import { type SocketClient, SocketConnection } from './socket-connection.ts';

/** The tools that a page runs, by their names. */
export type PageTools = Record<string, (input: unknown) => ToolRun>;

export type TabOptions = {
  server: Server;
  major: Major;
  /** Who sits in front of it; somebody new if nobody is named. */
  api?: Api;
  /** The chat; a new one if none is named. */
  id?: string;
  messages?: UIMessage[];
  /** Up to where these were loaded; said when a stream is resumed. */
  seq?: number;
  tools?: PageTools;
  profile?: Profile;
  /** `sse` if nothing is said. */
  transport?: Transport;
  /** What it sends over `sse`; its whole history if nothing is said. */
  sends?: Sends;
  /** Whose transport a page with a socket has; that of its version if nothing is said. */
  socketClient?: SocketClient;
  /** Where its socket is opened, if not at the server itself. */
  socketOrigin?: () => string;
  /** What the page adds to the body of each request. */
  body?: Record<string, unknown>;
};

export type Another = Pick<TabOptions, 'tools'> & { knowsPlace?: boolean };

/** Longer than any window stays open here; the turn of a server that died is taken over in 5 s. */
const timeoutMs = 16_000;

export class Tab {
  readonly id: string;
  readonly major: Major;
  readonly api: Api;
  readonly page: ChatPage;
  /** The calls that the page ran, in order. */
  readonly ran: AnnouncedCall[] = [];
  /** The data that came, in order, also what no message keeps. */
  readonly data: DataPart[] = [];

  readonly #options: TabOptions;
  readonly #script = new Script();
  readonly #watch = new StateWatch();
  readonly #connection: Connection;
  #generated = 0;

  constructor(options: TabOptions) {
    const { server, major, messages, tools = {}, transport = 'sse' } = options;
    this.#options = options;
    this.major = major;
    this.id = options.id ?? server.newChat();
    this.api =
      options.api ?? new Api(() => server.url, server.newPrincipal(), transport, server.ledger);
    this.api.note(this.id);
    if (messages !== undefined) {
      this.#script.note({ messages: structuredClone(messages) });
    }
    const shared = {
      id: this.id,
      messages: messages ?? [],
      runTool: (call: AnnouncedCall) => this.#run(tools, call),
      generateId: () =>
        `${this.id}-${options.messages === undefined ? 'a' : 'b'}${++this.#generated}`,
      onWrite: this.#watch.see,
    };
    if (transport === 'legacy') {
      const page = new LegacyPage({ ...shared, major, api: this.api, script: this.#script });
      this.page = page;
      this.#connection = page.connection;
    } else {
      const connection = this.#connect();
      this.page = new Page({
        ...shared,
        sdk: chatSdks[major],
        transport: connection.transport,
        onData: part => this.data.push(part),
      });
      this.#connection = connection;
    }
  }

  /**
   * Another tab of the same person on the same chat, with the messages that the server has; one that
   * `knowsPlace` says when it resumes up to where it has them.
   */
  async another({ knowsPlace = false, ...options }: Another = {}): Promise<Tab> {
    const chat = await this.api.chat(this.id);
    return new Tab({
      ...this.#options,
      api: this.api,
      id: this.id,
      messages: chat?.messages ?? [],
      ...(knowsPlace && chat !== undefined && { seq: chat.seq }),
      ...options,
    });
  }

  get messages(): UIMessage[] {
    return this.page.state.messages;
  }

  get posts(): number {
    return this.#connection.posts.length;
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Its windows, in the order in which they were asked for. */
  get windows(): WindowRecord[] {
    return this.#script.windows;
  }

  /** Whether a call went back on what it had shown before. */
  get sawBack(): boolean {
    return this.#watch.sawBack;
  }

  /** What the last message of the agent says. */
  get text(): string {
    return textOf(this.messages.findLast(message => message.role === 'assistant'));
  }

  /** The parts of a tool's calls, over all messages. */
  calls(tool: string): ToolPart[] {
    return this.messages.flatMap(callsOf).filter(part => toolName(part) === tool);
  }

  /** The part of a tool that was called once. */
  call(tool: string): ToolPart {
    const [part, second] = this.calls(tool);
    if (part === undefined || second !== undefined) {
      throw new Error(`${tool} was called ${second === undefined ? 'never' : 'more than once'}`);
    }
    return part;
  }

  async say(text: string): Promise<void> {
    this.begin(text);
    await this.quiet();
  }

  /** Says something, and leaves the window open. */
  begin(text: string): void {
    this.#script.note({ say: text });
    this.page.say(text);
  }

  /** Sends a message of any parts, and leaves the window open. */
  send(parts: UIMessage['parts']): void {
    if (!(this.page instanceof Page)) {
      throw new Error('a page of the legacy dialect sends texts');
    }
    this.#script.note({ say: '(parts)' });
    this.page.send(parts);
  }

  async approve(part: ToolPart, reason?: string): Promise<void> {
    this.answer(part, true, reason);
    await this.quiet();
  }

  async deny(part: ToolPart, reason?: string): Promise<void> {
    this.answer(part, false, reason);
    await this.quiet();
  }

  /** Answers, and does not wait for what comes of it. */
  answer(part: ToolPart, approved: boolean, reason?: string): void {
    const approvalId = part.approval?.id;
    if (approvalId === undefined) {
      throw new Error(`nobody asked about ${toolName(part)}: it is ${part.state}`);
    }
    this.#script.note({
      answer: { approvalId, approved, ...(reason === undefined ? {} : { reason }) },
    });
    this.page.answer(approvalId, approved, reason);
  }

  /** Gives the output of a call that was not run when it was announced. */
  give(toolCallId: string, run: ToolRun): void {
    this.#noteRun(toolCallId, run);
    this.page.give(toolCallId, run);
  }

  /** Sends the answers that were given so far. */
  async sendAnswers(): Promise<void> {
    const answered = this.messages.findLast(message =>
      message.parts.some(part => 'state' in part && part.state === 'approval-responded'),
    );
    this.#script.note({ sendAbout: (answered ?? this.messages.at(-1))?.id ?? '' });
    this.page.sendAnswers();
    await this.quiet();
  }

  async edit(messageId: string, text: string): Promise<void> {
    this.page.edit(messageId, text);
    await this.quiet();
  }

  async regenerate(messageId?: string): Promise<void> {
    this.page.regenerate(messageId);
    await this.quiet();
  }

  async resume(): Promise<void> {
    this.page.resume();
    await this.quiet();
  }

  /** Closes the connection, as leaving the page does. */
  async leave(): Promise<void> {
    this.page.stop();
    await this.quiet();
  }

  /** Resolves when the page does nothing more by itself. */
  async quiet(): Promise<void> {
    const idle = this.#isQuiet();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the window never closed')), timeoutMs);
    });
    await Promise.race([idle, late]).finally(() => clearTimeout(timer));
  }

  #isQuiet(): Promise<void> {
    if (this.page instanceof LegacyPage) {
      return this.page.settle();
    }
    return untilIdle({
      isBusy: () => this.page.isBusy,
      activity: () => this.#connection.activity + this.page.state.activity,
      // A client that waits to open its socket again has nothing on its way.
      pending: () => this.#connection.pending() ?? (this.page.isBusy ? pause(1) : undefined),
    });
  }

  /** What our own checker has to say about all that this tab was sent. */
  async checked(): Promise<Check> {
    const { major, tools = {}, profile = 'shared' } = this.#options;
    const checks = await check(
      this.#script.sessions.map(script => ({
        sdk: major,
        profile,
        clientTools: Object.keys(tools),
        script,
      })),
    );
    return {
      findings: checks.flatMap(({ findings }) => findings),
      requests: checks.reduce((sum, { requests }) => sum + requests, 0),
    };
  }

  /** How many of its requests the checker can't foresee: those that no predicate and no word made. */
  get unforeseen(): number {
    return this.#connection.posts.filter(cutsHistory).length;
  }

  /** Whether its client opens a connection that was lost by itself. */
  get reconnects(): boolean {
    return this.#connection instanceof SocketConnection && this.#connection.client === 'ours';
  }

  /** All that happened, for a person who looks for the reason of a failure. */
  get story(): string {
    return this.#script.story;
  }

  #connect(): FetchConnection | SocketConnection {
    const {
      server,
      major,
      profile = 'shared',
      transport,
      socketClient,
      socketOrigin,
      sends,
      seq,
      body = {},
    } = this.#options;
    if (transport !== 'socket') {
      return new FetchConnection(chatSdks[major], this.api, this.#script, {
        headers: profile === 'v7' ? { 'x-adk-stream-profile': profile } : {},
        body,
        ...(sends && { sends }),
        ...(seq !== undefined && { seq }),
      });
    }
    return new SocketConnection(major, this.api, this.#script, {
      profile,
      body,
      origin: socketOrigin ?? (() => server.url),
      ...(socketClient && { client: socketClient }),
      ...(seq !== undefined && { seq }),
    });
  }

  #run(tools: PageTools, call: AnnouncedCall): ToolRun | undefined {
    const tool = Object.hasOwn(tools, call.toolName) ? tools[call.toolName] : undefined;
    if (tool === undefined) {
      return undefined;
    }
    this.ran.push(call);
    const run = tool(call.input);
    this.#noteRun(call.toolCallId, run);
    return run;
  }

  #noteRun(toolCallId: string, run: ToolRun): void {
    this.#script.note(
      'output' in run
        ? { output: { toolCallId, output: run.output } }
        : { outputError: { toolCallId, errorText: run.errorText } },
    );
  }
}

export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map(part => (part.type === 'text' ? part.text : '')).join('');
}
