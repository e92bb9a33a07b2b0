/** The real binary, on a free port, with a journal that outlives it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../corpus.ts';
import { Emulator } from './emulator.ts';

const binary = resolve(projectRoot, process.env.ADK_STREAM_BIN ?? 'target/debug/adk-stream');

/** Where the journals are left for other tests, if anybody wants them. */
const recordFolder =
  process.env.ADK_STREAM_RECORD === undefined ? undefined : resolve(process.env.ADK_STREAM_RECORD);

/** Each test is a principal of its own, so that its wallet and its questions are nobody else's. */
const principalCount = 256;

/**
 * The demo, its second personality, which calls one tool at a time, or Gemini, by either of its two
 * APIs: then it is the demo that answers behind an emulator.
 */
export type Agent = 'demo' | 'demo-live' | 'gemini' | 'gemini-live';

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
};

export type Principal = { name: string; key: string };

type Running = { child: ChildProcess; complaints: string[] };

export class Server {
  readonly #options: ServerOptions;
  readonly #folder: string;
  #running: Running | undefined;
  #emulator: (Running & { url: string }) | undefined;
  #url = '';
  #principalsTaken = 0;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#folder = folder();
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new Server(options);
    const { agent = 'demo', pace = 0 } = options;
    if (options.beside === undefined && (agent === 'gemini' || agent === 'gemini-live')) {
      const args = ['emulate-gemini', '--listen', '127.0.0.1:0', '--pace', String(pace)];
      args.push(...(options.emulatorFlags ?? []));
      server.#emulator = await launch(args, server.#folder, {});
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
    const principal = principals[this.#principalsTaken++];
    if (principal === undefined) {
      throw new Error('there are no more principals: raise their number');
    }
    return principal;
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
    if (recordFolder === undefined) {
      rmSync(this.#folder, { recursive: true, force: true });
    }
    for (const { child, complaints } of [running, this.#emulator].filter(
      one => one !== undefined,
    )) {
      if (child.exitCode !== 0 || complaints.some(line => /panicked/.test(line))) {
        throw new Error(`it ended with ${child.exitCode}, saying:\n${complaints.join('\n')}`);
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
    const url = this.#emulatorUrl;
    if (url === undefined) {
      throw new Error('only Gemini has an emulator');
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
    const env: Record<string, string> = { ...this.#options.variables };
    if (this.#options.isOpen !== true) {
      env.ADK_STREAM_KEYS = principals.map(({ name, key }) => `${name}=${key}`).join(',');
    }
    const gemini = this.#emulatorUrl;
    if (gemini !== undefined) {
      args.push('--gemini-base-url', gemini, '--gemini-model', 'gemini-3-flash');
      env.GEMINI_API_KEY = geminiKey;
    }
    if (agent === 'gemini-live') {
      args.push('--live-modality', modality);
      // The demo's questions wait as long as they do elsewhere.
      args.push(...(approvalTimeout === undefined ? ['--approval-timeout', 'never'] : []));
    }
    const running = await launch(args, this.#folder, env);
    this.#url = running.url;
    return running;
  }
}

/** Starts the binary, and waits until it listens. */
async function launch(
  args: string[],
  cwd: string,
  variables: Record<string, string>,
): Promise<Running & { url: string }> {
  // In a folder of its own and without our variables, so that nobody's configuration has a say.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^ADK_STREAM_|^(GEMINI|GOOGLE)_/.test(name)),
  );
  const child = spawn(binary, args, {
    cwd,
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test run that is cut short must not leave servers behind.
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));

  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on('line', line => complaints.push(line));
  // Without a listener, a binary that is missing would end the whole test run.
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const listening = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) {
        return url;
      }
    }
    throw new Error(`${binary} ended before it listened, saying:\n${complaints.join('\n')}`);
  })();
  return { child, complaints, url: await Promise.race([listening, failed]) };
}

async function end(running: Running | undefined, signal: NodeJS.Signals): Promise<void> {
  if (running?.child.exitCode === null && running.child.signalCode === null) {
    const ended = once(running.child, 'exit');
    running.child.kill(signal);
    await ended;
  }
}

const principals: readonly Principal[] = Array.from({ length: principalCount }, (_, index) => ({
  name: `person-${index + 1}`,
  key: `secret-of-${index + 1}`,
}));

function folder(): string {
  if (recordFolder === undefined) {
    return mkdtempSync(join(tmpdir(), 'adk-stream-'));
  }
  mkdirSync(recordFolder, { recursive: true });
  return mkdtempSync(join(recordFolder, 'journal-'));
}
