/** Starts the real binary on a free port, and ends it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, launch, launchEmulator, type Running } from '../../conformance/src/server/process.ts';

export { projectRoot } from '../../conformance/src/corpus.ts';

/** A key that the Gemini on loopback takes, and nobody else is asked with. */
const key = { GEMINI_API_KEY: 'any' };

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
  /** A file with one agent, which answers in place of the agent. */
  agentFile?: string;
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
  #running: Running;
  readonly url: string;

  private constructor(
    running: Running,
    readonly folder: string,
    private readonly options: string[],
    private readonly variables: Record<string, string>,
  ) {
    this.#running = running;
    this.url = running.url;
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const {
      pace = 2,
      agent = 'demo',
      gemini,
      agentFile,
      adk,
      approvalTimeout,
      sdk,
      isDurable = false,
      keys,
      frameAncestors,
    } = options;
    const folder = mkdtempSync(join(tmpdir(), 'adk-stream-'));
    if (agentFile !== undefined) {
      // Where `serve` finds it without a flag.
      writeFileSync(join(folder, 'adk-stream.toml'), agentFile);
    }
    const given = [
      ['--store', isDurable ? 'sqlite:chats.db' : 'memory'],
      ...(agentFile === undefined ? [['--pace', String(pace), '--agent', agent]] : []),
      ...(approvalTimeout === undefined ? [] : [['--approval-timeout', String(approvalTimeout)]]),
      ...(gemini === undefined || agentFile !== undefined ? [] : [['--demo-tools']]),
      ...(adk === undefined ? [] : [['--adk-url', adk, '--adk-app', 'app']]),
      ...(sdk === undefined ? [] : [['--page', pages[sdk]]]),
      ...(keys === undefined ? [] : [['--keys', keys]]),
      ...(frameAncestors === undefined ? [] : [['--frame-ancestors', frameAncestors]]),
    ].flat();
    const args = ['serve', '--listen', '127.0.0.1:0', ...given];
    const variables = {
      ...key,
      ...(gemini !== undefined && { ADK_STREAM_GEMINI_BASE_URL: gemini }),
    };
    return new Server(await launch(args, folder, variables), folder, given, variables);
  }

  /** Starts a Gemini on loopback, which follows a script: docs/emulator.md describes it. */
  static async emulateGemini(script: object, flags: string[] = []): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'adk-stream-'));
    writeFileSync(join(folder, 'script.json'), JSON.stringify(script));
    const args = ['--script', 'script.json', ...flags];
    return new Server(await launchEmulator(args, folder), folder, [], {});
  }

  /** Dies without a word, as in a crash. */
  async kill(): Promise<void> {
    await end(this.#running, 'SIGKILL');
  }

  /** Comes back where it was. */
  async restart(): Promise<void> {
    const args = ['serve', '--listen', new URL(this.url).host, ...this.options];
    this.#running = await launch(args, this.folder, this.variables);
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
    await end(this.#running, 'SIGTERM');
    return this.#running.child.exitCode;
  }

  /** Ends it at once, and leaves nothing behind. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
