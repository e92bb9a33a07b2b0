/** The real binary, on a free port, with a journal that outlives it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Adk, type AdkPlace, agentKey } from './adk.ts';
import { tellDesk } from './desk.ts';
import { Emulator } from './emulator.ts';
import { end, expectEndedWell, launch, launchEmulator, type Running } from './process.ts';

/** Where the journals are left for other tests, if anybody wants them. */
const recordFolder =
  process.env.ADK_STREAM_RECORD === undefined ? undefined : resolve(process.env.ADK_STREAM_RECORD);

/** Each test is a principal of its own, so that its wallet and its questions are nobody else's. */
const principalCount = 256;

/**
 * The demo, its second personality, which calls one tool at a time, Gemini, by either of its two
 * APIs, or ADK, by either of its two: then it is the demo that answers behind an emulator.
 */
export type Agent = 'demo' | 'demo-live' | 'gemini' | 'gemini-live' | 'adk' | 'adk-live';

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
  /** Another server, whose emulator this one asks too. */
  beside?: Server;
  /** Flags of the emulator, where there is one. */
  emulatorFlags?: string[];
  /** The key that Gemini is asked with. */
  geminiKey?: string;
  /** In what Gemini Live answers: `text`, if nothing is said. */
  modality?: 'text' | 'audio';
  /** An ADK that runs already. Without one, or where its pace does not suit, one is started. */
  adk?: AdkPlace | undefined;
  /** The app of ADK: the example's, if nothing is said. */
  adkApp?: string;
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
  #url = '';
  #principalsTaken = 0;
  readonly #principals: readonly Principal[];
  readonly #mark: string;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#folder = folder();
    // One ADK serves many servers, and must not take the people and chats of one for another's.
    this.#mark = isAdk(options.agent) ? `${randomBytes(4).toString('hex')}-` : '';
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
    server.#running = await server.#launch();
    return server;
  }

  /** Changes when it is started again; nobody is there while it does not run. */
  get url(): string {
    return this.#url;
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
    return this.#adk?.ledger;
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
    const url = this.#emulatorUrl ?? this.#adk?.emulator;
    if (url === undefined) {
      throw new Error('the demo has no emulator');
    }
    return new Emulator(url);
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
    const args = ['serve', '--listen', '127.0.0.1:0', '--agent', agent, '--pace', String(pace)];
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
    if (gemini !== undefined) {
      args.push('--gemini-base-url', gemini, '--gemini-model', 'gemini-3-flash', '--demo-tools');
      env.GEMINI_API_KEY = geminiKey;
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
    const running = await launch(args, this.#folder, env);
    this.#url = running.url;
    if (this.#adk !== undefined) {
      await tellDesk(this.#adk.desk, this.#chatsBegin, running.url);
    }
    return running;
  }
}

/** Whether an agent is ADK's. */
export function isAdk(agent: Agent | undefined): boolean {
  return agent === 'adk' || agent === 'adk-live';
}

function folder(): string {
  if (recordFolder === undefined) {
    return mkdtempSync(join(tmpdir(), 'adk-stream-'));
  }
  mkdirSync(recordFolder, { recursive: true });
  return mkdtempSync(join(recordFolder, 'journal-'));
}
