/**
 * An agent that speaks AG-UI: pydantic-ai with its own adapter, on the emulator of Gemini. Requests reach it
 * through a proxy, which keeps them, and cuts streams off on request.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type Server as HttpServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../corpus.ts';
import {
  bytecodeCache,
  end,
  expectEndedWell,
  launchEmulator,
  launchProgram,
  type Running,
} from './process.ts';

const python = join(projectRoot, 'target', 'python-agui', 'bin', 'python');

/** The addresses, for processes that did not start it. */
export type AgUiPlace = {
  url: string;
  emulator: string;
  /** A line of JSON for every payment. */
  ledger: string;
  pace: number;
};

/** What a run is sent, as far as tests look at it. */
export type RunInput = {
  threadId: string;
  runId: string;
  resume?: { interruptId: string; status: string; payload?: unknown }[];
};

export class AgUiAgent {
  readonly #folder: string;
  readonly #emulator: Running;
  readonly #proxy: HttpServer;
  readonly #pace: number;
  #running: Running | undefined;
  #port = '0';
  #killed: Promise<void> | undefined;
  /** The responses that are cut off: what comes of them meanwhile is dropped. */
  readonly #cut = new WeakSet<ServerResponse>();
  /** The requests that came. */
  readonly requests: RunInput[] = [];
  /** The type of event after which the next run that has one is cut off. */
  breakAfter: string | undefined;
  /** Whether it is killed then. */
  isKilledThen = false;

  private constructor(folder: string, emulator: Running, pace: number) {
    this.#folder = folder;
    this.#emulator = emulator;
    this.#pace = pace;
    this.#proxy = createServer((asked, answer) => {
      this.#forward(asked, answer).catch(() => answer.destroy());
    });
  }

  static async start({ pace = 0 }: { pace?: number } = {}): Promise<AgUiAgent> {
    if (!existsSync(python)) {
      throw new Error(`there is no pydantic-ai: scripts/python-env agui makes ${python}`);
    }
    const folder = mkdtempSync(join(tmpdir(), 'ag-ui-'));
    const emulator = await launchEmulator(['--pace', String(pace)], folder);
    const agent = new AgUiAgent(folder, emulator, pace);
    agent.#proxy.listen(0, '127.0.0.1');
    await Promise.all([once(agent.#proxy, 'listening'), agent.begin()]);
    return agent;
  }

  get place(): AgUiPlace {
    const { port } = this.#proxy.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}/`,
      emulator: this.#emulator.url,
      ledger: join(this.#folder, 'ledger.jsonl'),
      pace: this.#pace,
    };
  }

  /** Starts it, at the port that it had before. */
  async begin(): Promise<void> {
    this.#running = await launchProgram({
      command: python,
      args: [
        ...['-m', 'uvicorn', 'demo_agent:app', '--host', '127.0.0.1', '--port', this.#port],
        ...['--app-dir', join(projectRoot, 'python', 'agui', 'agents'), '--no-access-log'],
      ],
      cwd: this.#folder,
      variables: {
        EMULATOR: this.#emulator.url,
        LEDGER: join(this.#folder, 'ledger.jsonl'),
        ...bytecodeCache,
      },
      listening: /running on (http:\S+)/,
    });
    this.#port = new URL(this.#running.url).port;
  }

  /** Starts it, if it was killed. */
  async revive(): Promise<void> {
    await this.#killed;
    if (this.#running === undefined) {
      await this.begin();
    }
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    await end(this.#running, 'SIGKILL');
    this.#running = undefined;
  }

  async stop(): Promise<void> {
    this.#proxy.closeAllConnections();
    this.#proxy.close();
    // It waits for its clients to hang up, and they may be gone already.
    await this.kill();
    await end(this.#emulator, 'SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
    expectEndedWell(this.#emulator);
  }

  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of asked) {
      pieces.push(piece as Buffer);
    }
    const body = Buffer.concat(pieces);
    if (asked.method === 'POST') {
      this.requests.push(JSON.parse(body.toString()) as RunInput);
    }
    const { method = 'GET', headers, url = '/' } = asked;
    const target = { host: '127.0.0.1', port: this.#port, path: url, method, headers };
    const forwarded = httpRequest(target, given => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.on('data', (piece: Buffer) => this.#pass(piece, answer));
      given.once('end', () => this.#cut.has(answer) || answer.end());
      given.once('error', () => answer.destroy());
    });
    forwarded.once('error', () => answer.destroy());
    // A run whose reader is gone is of no use to anybody.
    answer.once('close', () => forwarded.destroy());
    forwarded.end(body);
  }

  /** Cuts the connection after an event. */
  #pass(piece: Buffer, answer: ServerResponse): void {
    if (answer.destroyed || this.#cut.has(answer)) {
      return;
    }
    const type = this.breakAfter;
    const place = type === undefined ? -1 : piece.indexOf(`"type":"${type}"`);
    if (place < 0) {
      answer.write(piece);
      return;
    }
    this.breakAfter = undefined;
    this.#cut.add(answer);
    // What comes with it in one piece is cut off too.
    const rest = piece.indexOf('\n\n', place);
    const last = rest < 0 ? piece : piece.subarray(0, rest + 2);
    answer.write(last, () => answer.destroy());
    if (this.isKilledThen) {
      this.isKilledThen = false;
      this.#killed = this.kill();
    }
  }
}

/**
 * The file of the agent: the tools of the page are offered to it, and the file says who is asked about
 * them.
 */
export function agentFileFor(place: AgUiPlace): string {
  return `
[agents.payer]
tools = ["get_location", "change_bgm"]

[agents.payer.ag-ui]
url = "${place.url}"
rerun = true

[client.get_location]
description = "Tells where the user is."
input = { type = "object", properties = {} }
ask = "May the agent know where you are?"

[client.change_bgm]
description = "Changes the background music to track 1 or 2."
input = { type = "object", properties = { track = { type = "integer" } }, required = ["track"] }
allow = true
`;
}
