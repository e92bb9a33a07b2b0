/**
 * A page on AG-UI's own client, 1.0 or the 0.x that CopilotKit depends on. As CopilotKit does, it runs the tools
 * that it has when a run leaves their calls without a result, and begins the next run with what came of them.
 */
import * as one from '@ag-ui/client';
import * as early from 'ag-ui-0';
import type { Api } from './server/api.ts';

export const agUiVersions = ['1.0.0', '0.0.59'] as const;

export type AgUiVersion = (typeof agUiVersions)[number];

const agents = { '1.0.0': one.HttpAgent, '0.0.59': early.HttpAgent };

/** What both versions have of an event, a message, an interrupt. */
export type AgUiEvent = { type: string; [field: string]: unknown };
export type AgUiMessage = {
  id: string;
  role: string;
  content?: unknown;
  toolCalls?: { id: string; function: { name: string; arguments: string } }[];
  toolCallId?: string;
  error?: string;
};
export type AgUiInterrupt = {
  id: string;
  reason: string;
  message?: string;
  toolCallId?: string;
  responseSchema?: unknown;
  expiresAt?: string;
  metadata?: Record<string, unknown>;
};
export type AgUiAnswer = {
  interruptId: string;
  status: 'resolved' | 'cancelled';
  payload?: unknown;
  metadata?: Record<string, unknown> | undefined;
};

export type PageTools = Record<string, (input: unknown) => unknown>;

type RunOptions = {
  resume?: AgUiAnswer[];
  tools?: { name: string; description: string; parameters: object }[];
  forwardedProps?: Record<string, unknown>;
};

/** What is used of an agent, which is the same in both versions. */
type Agent = {
  messages: AgUiMessage[];
  state: unknown;
  pendingInterrupts: AgUiInterrupt[];
  runAgent(options: object, subscriber: object): Promise<unknown>;
  abortRun(): void;
};

export class AgUiPage {
  readonly api: Api;
  readonly id: string;
  readonly version: AgUiVersion;
  readonly events: AgUiEvent[][] = [];
  readonly ran: { name: string; input: unknown }[] = [];
  /** What the client threw at, at each run. */
  readonly errors: (Error & { payload?: unknown })[] = [];
  readonly #tools: PageTools;
  readonly #agent: Agent;
  #said = 0;

  constructor(version: AgUiVersion, api: Api, id: string, tools: PageTools = {}) {
    this.version = version;
    this.api = api;
    this.id = id;
    this.#tools = tools;
    const fetch = (url: string, init?: RequestInit) => api.fetch(new URL(url).pathname, init);
    const config = { url: 'http://server/api/ag-ui', threadId: id, fetch };
    api.note(id);
    this.#agent = new agents[version](config as never) as unknown as Agent;
  }

  get messages(): AgUiMessage[] {
    return this.#agent.messages;
  }

  get state(): unknown {
    return this.#agent.state;
  }

  get interrupts(): AgUiInterrupt[] {
    return this.#agent.pendingInterrupts;
  }

  /** All that the agent has said. */
  get text(): string {
    return this.messages
      .filter(({ role }) => role === 'assistant')
      .map(({ content }) => (typeof content === 'string' ? content : ''))
      .join('\n');
  }

  /** Each call with its result, or with nothing. */
  get calls(): Record<string, string | undefined> {
    const results = new Map(
      this.messages.map(({ toolCallId, content }) => [toolCallId, content as string]),
    );
    const calls = this.messages.flatMap(({ toolCalls = [] }) => toolCalls);
    return Object.fromEntries(
      calls.map(({ id, function: { name } }, index) => [`${index}: ${name}`, results.get(id)]),
    );
  }

  /** The outcome of the last run. */
  get outcome(): unknown {
    return this.events.at(-1)?.find(({ type }) => type === 'RUN_FINISHED')?.outcome;
  }

  say(text: string, options: RunOptions = {}): Promise<void> {
    const id = `said-${this.id}-${++this.#said}-${Math.random()}`;
    this.#agent.messages = [...this.messages, { id, role: 'user', content: text }];
    return this.run(options);
  }

  /**
   * Answers all interrupts of the last run: with yes or no, or with the data that is asked for. What belongs
   * to the question is sent back in a yes or a no, and beside data.
   */
  answer(...answers: (boolean | object)[]): Promise<void> {
    const resume = this.interrupts.map(({ id, reason, metadata }, index) => {
      const answer = answers[index];
      const common = { interruptId: id, status: 'resolved' as const };
      if (reason === 'input_required') {
        return { ...common, payload: answer, metadata };
      }
      const payload = typeof answer === 'object' ? answer : { approved: answer };
      return { ...common, payload: { digest: metadata?.digest, ...payload } };
    });
    return this.run({ resume });
  }

  /** Declines all interrupts of the last run. */
  cancel(reason?: string): Promise<void> {
    const resume = this.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'cancelled' as const,
      ...(reason !== undefined && { payload: { reason } }),
    }));
    return this.run({ resume });
  }

  /** Forgets the errors that it has reported. */
  dismissErrors(): void {
    this.errors.length = 0;
  }

  /** As a page that comes back: what the server has is all that it knows. */
  async load(): Promise<void> {
    this.#agent.messages = [];
    await this.run();
  }

  /** Runs, then runs the tools of the page and again, for as long as a run leaves some. */
  async run(options: RunOptions = {}): Promise<void> {
    await this.runOnce(options);
    while (this.errors.length === 0 && this.interrupts.length === 0 && this.#runTools()) {
      await this.runOnce();
    }
  }

  async runOnce(options: RunOptions = {}): Promise<void> {
    const events: AgUiEvent[] = [];
    this.events.push(events);
    const onEvent = ({ event }: { event: AgUiEvent }) => {
      events.push(event);
    };
    try {
      await this.#agent.runAgent(options, { onEvent });
    } catch (error) {
      this.errors.push(error as Error);
    }
  }

  /** Leaves the stream; the turn goes on. */
  leave(): void {
    this.#agent.abortRun();
  }

  /** Puts messages in place of those that it has. */
  replace(messages: AgUiMessage[]): void {
    this.#agent.messages = messages;
  }

  #runTools(): boolean {
    const settled = new Set(this.messages.map(({ toolCallId }) => toolCallId));
    const calls = this.messages.flatMap(({ toolCalls = [] }) => toolCalls);
    const open = calls.filter(
      call => !settled.has(call.id) && this.#tools[call.function.name] !== undefined,
    );
    const results = open.map(({ id, function: { name, arguments: text } }) => {
      const input: unknown = JSON.parse(text);
      this.ran.push({ name, input });
      const result = { id: `result-${id}-${Math.random()}`, role: 'tool', toolCallId: id };
      try {
        return { ...result, content: JSON.stringify(this.#tools[name]?.(input)) };
      } catch (error) {
        const { message } = error as Error;
        return { ...result, content: message, error: message };
      }
    });
    this.#agent.messages = [...this.messages, ...results];
    return results.length > 0;
  }
}
