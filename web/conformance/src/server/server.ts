/** The real binary, on a free port, with a journal that outlives it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Adk, type AdkPlace, agentKey } from './adk.ts';
import { AgUiAgent, type AgUiPlace, agentFileFor } from './ag-ui-agent.ts';
import { type AiSdkPlace, AiSdkRoute } from './ai-sdk-route.ts';
import { clientTools } from './ai-sdk-tools.ts';
import { registerServer } from './ask-router.ts';
import { Emulator } from './emulator.ts';
import { isModel, type LitellmPlace, modelOf, settingsOf } from './litellm.ts';
import { end, expectEndedWell, launch, launchEmulator, type Running } from './process.ts';

/** Where the journals are left for other tests, if anybody wants them. */
const recordFolder =
  process.env.ADK_STREAM_RECORD === undefined ? undefined : resolve(process.env.ADK_STREAM_RECORD);

/** Each test is a principal of its own, so that its wallet and its questions are nobody else's. */
const principalCount = 256;

/**
 * The demo, its second personality, which calls one tool at a time, Gemini, by either of its two
 * APIs, ADK, by either of its two, a route of AI SDK 6 or 7, an agent that speaks AG-UI, or LiteLLM, by
 * OpenAI's two APIs or Anthropic's: then it is the demo that answers behind an emulator.
 */
export type Agent =
  | 'demo'
  | 'demo-live'
  | 'gemini'
  | 'gemini-live'
  | 'adk'
  | 'adk-live'
  | 'ai-sdk'
  | 'ai-sdk-6'
  | 'ag-ui'
  | 'openai'
  | 'responses'
  | 'anthropic';

export type ServerOptions = {
  agent?: Agent;
  store?: 'memory' | 'sqlite' | { url: string };
  /** Seconds until a question is taken back; never, if nothing is said. */
  approvalTimeout?: number;
  /** Milliseconds between two words of the demo. */
  pace?: number;
  /** Whether everybody is the one local principal, who needs no key. */
  isOpen?: boolean;
  /** More flags. */
  flags?: string[];
  /** More variables. */
  variables?: Record<string, string>;
  /** Another server, whose emulator this one asks too, and whose people it knows. */
  beside?: Server;
  /** Flags of the emulator, where there is one. */
  emulatorFlags?: string[];
  /** The key that Gemini is asked with. */
  geminiKey?: string;
  /** In what Gemini Live answers: `text`, if nothing is said. */
  modality?: 'text' | 'audio';
  /** An ADK that runs already. Without one, or where its pace does not suit, one is started. */
  adk?: AdkPlace | undefined;
  /** An AI SDK route that runs already. Without one, or where its pace does not suit, one is started. */
  aiSdk?: AiSdkPlace | undefined;
  /** An AG-UI agent that runs already. Without one, or where its pace does not suit, one is started. */
  agUi?: AgUiPlace | undefined;
  /** The LiteLLM that runs already, where the agent is asked through it. */
  litellm?: LitellmPlace | undefined;
  /** The app of ADK: the example's, if nothing is said. */
  adkApp?: string;
  /** A file with one agent, which answers in place of Gemini with the demo's tools. */
  agentFile?: string;
};

/** Counted over all servers: some share a store. */
let chats = 0;

export type Principal = { name: string; key: string };

export class Server {
  readonly #options: ServerOptions;
  readonly #folder: string;
  #running: Running | undefined;
  #emulator: Running | undefined;
  /** The ADK that was started for this server alone. */
  #ownAdk: Adk | undefined;
  #adk: AdkPlace | undefined;
  /** The AI SDK route that was started for this server alone. */
  #ownAiSdk: AiSdkRoute | undefined;
  #aiSdk: AiSdkPlace | undefined;
  /** The AG-UI agent that was started for this server alone. */
  #ownAgUi: AgUiAgent | undefined;
  #agUi: AgUiPlace | undefined;
  #url = '';
  #principalsTaken = 0;
  readonly #principals: readonly Principal[];
  readonly #mark: string;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#folder = folder();
    // One ADK serves many servers, and must not take the people and chats of one for another's.
    const mark = `${randomBytes(4).toString('hex')}-`;
    const isShared = isAdk(options.agent) || isAiSdk(options.agent) || options.agent === 'ag-ui';
    const own = isShared ? mark : '';
    this.#mark = options.beside === undefined ? own : options.beside.#mark;
    this.#principals = Array.from({ length: principalCount }, (_, index) => ({
      name: `person-${this.#mark}${index + 1}`,
      key: `secret-of-principal-${index + 1}`,
    }));
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new Server(options);
    const { agent = 'demo', pace = 0 } = options;
    if (options.beside === undefined && (agent === 'gemini' || agent === 'gemini-live')) {
      const flags = ['--pace', String(pace), ...(options.emulatorFlags ?? [])];
      server.#emulator = await launchEmulator(flags, server.#folder);
    }
    if (isAdk(agent)) {
      const isMeant = options.adk !== undefined && pace <= options.adk.pace;
      server.#ownAdk = isMeant ? undefined : await Adk.start({ pace });
      server.#adk = server.#ownAdk?.place ?? options.adk;
    }
    if (isAiSdk(agent)) {
      const isMeant = options.aiSdk !== undefined && pace <= options.aiSdk.pace;
      server.#ownAiSdk = isMeant ? undefined : await AiSdkRoute.start({ pace });
      server.#aiSdk = server.#ownAiSdk?.place ?? options.aiSdk;
    }
    if (agent === 'ag-ui') {
      const isMeant = options.agUi !== undefined && pace <= options.agUi.pace;
      server.#ownAgUi = isMeant ? undefined : await AgUiAgent.start({ pace });
      server.#agUi = server.#ownAgUi?.place ?? options.agUi;
    }
    server.#running = await server.#launch();
    return server;
  }

  /** Changes when it is started again; nobody is there while it does not run. */
  get url(): string {
    return this.#url;
  }

  /** Where it runs: its journal, and the file of its agent. */
  get folder(): string {
    return this.#folder;
  }

  /** How the system calls its process. */
  get pid(): number {
    const pid = this.#running?.child.pid;
    if (pid === undefined) {
      throw new Error('the server does not run');
    }
    return pid;
  }

  /** A principal whom nobody has been yet; none where everybody is the same. */
  newPrincipal(): Principal | undefined {
    if (this.#options.isOpen === true) {
      return undefined;
    }
    const principal = this.#principals[this.#principalsTaken++];
    if (principal === undefined) {
      throw new Error('there are no more principals: raise their number');
    }
    return principal;
  }

  /** The name of a chat that nobody has opened yet. */
  newChat(): string {
    return `${this.#chatsBegin}${++chats}`;
  }

  get #chatsBegin(): string {
    return `chat-${this.#mark}`;
  }

  /** Where its agent notes what was paid, if that is not the demo's wallet. */
  get ledger(): string | undefined {
    return this.#adk?.ledger ?? this.#aiSdk?.ledger ?? this.#agUi?.ledger;
  }

  /** Ends it in the middle of whatever it does, and starts it again on the same journal. */
  async crash(): Promise<void> {
    await this.#end('SIGKILL');
    this.#running = await this.#launch();
  }

  /** Ends it as an operator would, and starts it again on the same journal. */
  async restart(): Promise<void> {
    await this.#end('SIGTERM');
    this.#running = await this.#launch();
  }

  /** Ends it as an operator would. Throws if it did not end well, or had panicked before. */
  async stop(): Promise<void> {
    const running = await this.#end('SIGTERM');
    await end(this.#emulator, 'SIGTERM');
    await this.#ownAdk?.stop();
    await this.#ownAiSdk?.stop();
    await this.#ownAgUi?.stop();
    if (recordFolder === undefined) {
      rmSync(this.#folder, { recursive: true, force: true });
    }
    for (const one of [running, this.#emulator]) {
      if (one !== undefined) {
        expectEndedWell(one);
      }
    }
  }

  async #end(signal: NodeJS.Signals): Promise<Running | undefined> {
    const running = this.#running;
    this.#running = undefined;
    await end(running, signal);
    return running;
  }

  /** The emulator behind the server. */
  get emulator(): Emulator {
    const behind = this.#adk ?? this.#aiSdk ?? this.#agUi ?? this.#model;
    const url = this.#emulatorUrl ?? behind?.emulator;
    if (url === undefined) {
      throw new Error('the demo has no emulator');
    }
    return new Emulator(url);
  }

  /** The model behind LiteLLM, where the agent is one. */
  get #model(): LitellmPlace['models'][number] | undefined {
    const { agent = 'demo', litellm, pace = 0 } = this.#options;
    return isModel(agent) && litellm !== undefined ? modelOf(litellm, pace) : undefined;
  }

  get #emulatorUrl(): string | undefined {
    const { beside } = this.#options;
    return beside === undefined ? this.#emulator?.url : beside.#emulatorUrl;
  }

  /** What the server wrote to its log. */
  get complaints(): readonly string[] {
    return this.#running?.complaints ?? [];
  }

  async #launch(): Promise<Running> {
    const { agent = 'demo', store = 'sqlite', approvalTimeout, pace = 0 } = this.#options;
    const { geminiKey = 'a-key', modality = 'text' } = this.#options;
    const agentFile = this.#options.agentFile ?? (this.#agUi && agentFileFor(this.#agUi));
    const name = isAiSdk(agent) ? 'ai-sdk' : agent;
    const args = ['serve', '--listen', '127.0.0.1:0'];
    if (agentFile === undefined) {
      args.push(...(isModel(agent) ? [] : ['--agent', name]), '--pace', String(pace));
    } else {
      const path = join(this.#folder, 'adk-stream.toml');
      writeFileSync(path, agentFile);
      args.push('--config', path);
    }
    const file = `sqlite:${join(this.#folder, 'journal.sqlite')}`;
    const place = store === 'sqlite' ? file : store;
    args.push('--store', typeof place === 'string' ? place : place.url);
    if (approvalTimeout !== undefined) {
      args.push('--approval-timeout', String(approvalTimeout));
    }
    args.push(...(this.#options.flags ?? []));
    // Tests ask as fast as they can until something has happened.
    const env: Record<string, string> = {
      ADK_STREAM_MAX_REQUESTS_PER_SECOND: 'none',
      // A thousand sockets of one person, each with a turn, are one test's.
      ADK_STREAM_MAX_REQUESTS_IN_FLIGHT: 'none',
      ADK_STREAM_MAX_OPEN_CHATS: 'none',
      ...this.#options.variables,
    };
    if (this.#options.isOpen !== true) {
      env.ADK_STREAM_KEYS = this.#principals.map(({ name, key }) => `${name}=${key}`).join(',');
    }
    const gemini = this.#emulatorUrl;
    if (gemini !== undefined && agentFile !== undefined) {
      env.ADK_STREAM_GEMINI_BASE_URL = gemini;
      env.GEMINI_API_KEY = geminiKey;
    } else if (gemini !== undefined) {
      args.push('--gemini-base-url', gemini, '--gemini-model', 'gemini-3-flash', '--demo-tools');
      env.GEMINI_API_KEY = geminiKey;
    }
    const model = this.#model;
    if (model !== undefined && isModel(agent)) {
      const asked = settingsOf(agent, this.#options.litellm?.url ?? '', model.name);
      args.push(...asked.flags, '--demo-tools');
      Object.assign(env, asked.variables);
    }
    if (agent === 'adk-live') {
      args.push('--live-modality', modality);
    }
    if (agent === 'gemini-live') {
      args.push('--live-modality', modality);
      // The demo's questions wait as long as they do elsewhere.
      args.push(...(approvalTimeout === undefined ? ['--approval-timeout', 'never'] : []));
    }
    if (this.#adk !== undefined) {
      const app = agent === 'adk-live' ? 'assistant_live' : 'assistant';
      args.push('--adk-url', this.#adk.url, '--adk-app', this.#options.adkApp ?? app);
      env.ADK_STREAM_AGENT_KEY = agentKey;
    }
    if (this.#aiSdk !== undefined) {
      const major = agent === 'ai-sdk-6' ? '6' : '7';
      args.push('--ai-sdk-url', `${this.#aiSdk.url}/${major}/api/chat`, '--ai-sdk-rerun');
      args.push('--ai-sdk-client-tools', clientTools.join(','));
    }
    const running = await launch(args, this.#folder, env);
    this.#url = running.url;
    if (this.#adk !== undefined) {
      await registerServer(this.#adk.askRouter, this.#chatsBegin, running.url);
    }
    return running;
  }
}

/** Whether an agent is ADK's. */
export function isAdk(agent: Agent | undefined): boolean {
  return agent === 'adk' || agent === 'adk-live';
}

/** Whether an agent is a route of the AI SDK's. */
export function isAiSdk(agent: Agent | undefined): boolean {
  return agent === 'ai-sdk' || agent === 'ai-sdk-6';
}

function folder(): string {
  if (recordFolder === undefined) {
    return mkdtempSync(join(tmpdir(), 'adk-stream-'));
  }
  mkdirSync(recordFolder, { recursive: true });
  return mkdtempSync(join(recordFolder, 'journal-'));
}
