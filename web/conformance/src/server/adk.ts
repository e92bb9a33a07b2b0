/** The real ADK: `adk api_server` on the emulator of Gemini, with sessions that outlive it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../corpus.ts';
import { gatherApps } from './adk-apps.ts';
import { AskRouter } from './ask-router.ts';
import {
  bytecodeCache,
  end,
  expectEndedWell,
  launchEmulator,
  launchProgram,
  type Running,
} from './process.ts';

const python = join(projectRoot, 'target', 'python-adk', 'bin', 'python');

/** Whom it trusts: the emulator. */
const certificate = 'emulator.pem';

/** What its tools are known by at the ask router. */
export const agentKey = 'the-key-of-the-tools-at-adk';

export type AdkOptions = {
  /** Whether its sessions end with it. Its file is locked for seconds when many write to it. */
  isForgetful?: boolean;
  /** Milliseconds between two words of the model. */
  pace?: number;
  /** Where it listens: `127.0.0.1`, if nothing is said. */
  host?: string;
};

/** The addresses, for processes that did not start it. */
export type AdkPlace = {
  url: string;
  emulator: string;
  /** Where its tools ask. */
  askRouter: string;
  /** A line of JSON for every payment of the example's. */
  ledger: string;
  /** A line of JSON for everything that the tools of the other apps did. */
  notes: string;
  pace: number;
};

export class Adk {
  readonly #folder: string;
  readonly #options: AdkOptions;
  readonly #emulator: Running;
  readonly #askRouter: AskRouter;
  readonly #apps: string;
  #running: Running | undefined;
  #url = '';

  private constructor(
    options: AdkOptions,
    folder: string,
    emulator: Running,
    askRouter: AskRouter,
  ) {
    this.#folder = folder;
    this.#apps = gatherApps(folder);
    this.#options = options;
    this.#emulator = emulator;
    this.#askRouter = askRouter;
  }

  static async start(options: AdkOptions = {}): Promise<Adk> {
    if (!existsSync(python)) {
      throw new Error(`there is no ADK: scripts/python-env adk makes ${python}`);
    }
    const { pace = 0 } = options;
    const folder = mkdtempSync(join(tmpdir(), 'adk-'));
    const flags = ['--pace', String(pace), '--certificate', join(folder, certificate)];
    const emulator = await launchEmulator(flags, tmpdir());
    const adk = new Adk(options, folder, emulator, await AskRouter.start());
    await adk.begin();
    return adk;
  }

  get place(): AdkPlace {
    return {
      url: this.#url,
      emulator: this.#emulator.url,
      askRouter: this.#askRouter.url,
      ledger: join(this.#folder, 'ledger.jsonl'),
      notes: join(this.#folder, 'notes.jsonl'),
      pace: this.#options.pace ?? 0,
    };
  }

  /** Starts it, at the address that it had before, with the sessions that it had. */
  async begin(): Promise<void> {
    const { ledger, notes } = this.place;
    const file = `sqlite:///${join(this.#folder, 'sessions.db')}`;
    const sessions = this.#options.isForgetful === true ? 'memory://' : file;
    const { host = '127.0.0.1' } = this.#options;
    const port = this.#url === '' ? '0' : new URL(this.#url).port;
    this.#running = await launchProgram({
      command: python,
      args: [
        ...['-m', 'google.adk.cli', 'api_server', '--host', host, '--port', port],
        // Nothing is to be written beside the agents.
        ...['--session_service_uri', sessions, '--artifact_service_uri', 'memory://'],
        this.#apps,
      ],
      cwd: this.#folder,
      variables: {
        GOOGLE_API_KEY: 'a-key',
        // Live insists on TLS, and the emulator speaks it on the same port.
        GOOGLE_GEMINI_BASE_URL: this.#emulator.url.replace('http:', 'https:'),
        SSL_CERT_FILE: join(this.#folder, certificate),
        PYTHONPATH: join(projectRoot, 'python', 'adk_stream', 'src'),
        ...bytecodeCache,
        ADK_STREAM_URL: this.#askRouter.url,
        ADK_STREAM_AGENT_KEY: agentKey,
        ASSISTANT_LEDGER: ledger,
        LEDGER: notes,
      },
      listening: /running on (http:\S+)/,
    });
    this.#url = this.#running.url;
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    await end(this.#running, 'SIGKILL');
    this.#running = undefined;
  }

  async stop(): Promise<void> {
    // It waits for its clients to hang up, and they may be gone already.
    await this.kill();
    await end(this.#emulator, 'SIGTERM');
    await this.#askRouter.stop();
    rmSync(this.#folder, { recursive: true, force: true });
    expectEndedWell(this.#emulator);
  }
}
