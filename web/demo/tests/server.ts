/** Starts the real binary on a free port, and ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

const binary = resolve(projectRoot, process.env.ADK_STREAM_BIN ?? 'target/debug/adk-stream');
const emulator = join(dirname(binary), 'gemini-emulator');

/** The page as it was built with one of the two majors of the AI SDK. */
export const pages = {
  6: fileURLToPath(new URL('../dist-v6', import.meta.url)),
  7: fileURLToPath(new URL('../dist', import.meta.url)),
};

export type Sdk = keyof typeof pages;

export interface ServerOptions {
  /** The pause between the demo's words, in milliseconds. */
  pace?: number;
  agent?: 'demo' | 'demo-live' | 'gemini-live' | 'adk';
  /** Where ADK is, for an agent of its app `app`. */
  adk?: string;
  /** Where Gemini is, for an agent that asks it. */
  gemini?: string;
  /** How long approvals wait, in seconds. */
  approvalTimeout?: number;
  /** The SDK of the page that it serves. */
  sdk?: Sdk;
  /** Whether chats outlive the process. */
  isDurable?: boolean;
  keys?: string;
  /** The sites that may show the page in a frame. */
  frameAncestors?: string;
}

export class Server {
  #child: ChildProcess;

  private constructor(
    child: ChildProcess,
    private readonly folder: string,
    private readonly options: string[],
    readonly url: string,
  ) {
    this.#child = child;
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const {
      pace = 2,
      agent = 'demo',
      gemini,
      adk,
      approvalTimeout,
      sdk,
      isDurable = false,
      keys,
      frameAncestors,
    } = options;
    const folder = mkdtempSync(join(tmpdir(), 'adk-stream-'));
    const given = [
      ['--store', isDurable ? 'sqlite:chats.db' : 'memory'],
      ['--pace', String(pace)],
      ['--agent', agent],
      ...(approvalTimeout === undefined ? [] : [['--approval-timeout', String(approvalTimeout)]]),
      ...(gemini === undefined ? [] : [['--gemini-base-url', gemini, '--demo-tools']]),
      ...(adk === undefined ? [] : [['--adk-url', adk, '--adk-app', 'app']]),
      ...(sdk === undefined ? [] : [['--page', pages[sdk]]]),
      ...(keys === undefined ? [] : [['--keys', keys]]),
      ...(frameAncestors === undefined ? [] : [['--frame-ancestors', frameAncestors]]),
    ].flat();
    const { child, url } = await run(folder, ['serve', '--listen', '127.0.0.1:0', ...given]);
    return new Server(child, folder, given, url);
  }

  /** Starts a Gemini on loopback, which hears what it is told to hear. */
  static async emulateGemini(utterances: string[]): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'adk-stream-'));
    writeFileSync(join(folder, 'script.json'), JSON.stringify({ utterances, rules: [] }));
    const options = ['--listen', '127.0.0.1:0', '--script', 'script.json'];
    const { child, url } = await run(folder, options, emulator);
    return new Server(child, folder, [], url);
  }

  /** Dies without a word, as in a crash. */
  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** Comes back where it was. */
  async restart(): Promise<void> {
    const { child } = await run(this.folder, [
      'serve',
      '--listen',
      new URL(this.url).host,
      ...this.options,
    ]);
    this.#child = child;
  }

  async approvals(): Promise<{ approvalId: string; chatId: string; digest?: string }[]> {
    return (await (await fetch(`${this.url}/api/approvals`)).json()).approvals;
  }

  /** Answers the approval that waits longest, as somebody does who is not at the page. */
  async answerWhatWaits(answer: object = { approved: true }): Promise<void> {
    const [first] = await this.approvals();
    await fetch(`${this.url}/api/approvals/${first?.approvalId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answer),
    });
  }

  /** Says something in a chat, as another client would, and reads the answer to its end. */
  async tell(chat: string, message: string, text: string): Promise<void> {
    const body = {
      id: chat,
      messages: [{ id: message, role: 'user', parts: [{ type: 'text', text }] }],
    };
    const response = await fetch(`${this.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.text();
  }

  /** Ends it as an operator would, and says its exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    return this.#child.exitCode;
  }

  /** Ends it at once, and leaves nothing behind. */
  async remove(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      await this.kill();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function run(
  folder: string,
  options: string[],
  program = binary,
): Promise<{ child: ChildProcess; url: string }> {
  // In an empty folder and without our variables, so that nobody's configuration has a say.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ADK_STREAM|GEMINI_EMULATOR)_/.test(name)),
  );
  const child = spawn(program, options, {
    cwd: folder,
    // A key that the Gemini on loopback takes, and nobody else is asked with.
    env: { ...env, GEMINI_API_KEY: 'any' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Without a listener, a binary that is missing would end the whole test run.
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const listening = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) {
        return url;
      }
    }
    throw new Error(`${program} ended before it listened`);
  })();
  return { child, url: await Promise.race([listening, failed]) };
}
