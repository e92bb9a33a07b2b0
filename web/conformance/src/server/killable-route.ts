/** A route of the AI SDK's that is killed, and started again at the port that it had. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HoldPlace } from './ai-sdk-process.ts';
import { type AiSdkPlace, warmUp } from './ai-sdk-route.ts';
import {
  end,
  expectEndedWell,
  launchEmulator,
  launchProgram,
  listening,
  type Running,
} from './process.ts';

const program = fileURLToPath(new URL('ai-sdk-process.ts', import.meta.url));

/** Node has to have its TypeScript compiled. */
const script = `
const { runnerImport } = await import('vite');
await runnerImport(${JSON.stringify(program)}, { configFile: false });
`;

export class KillableRoute {
  readonly #folder: string;
  readonly #emulator: Running;
  #running: Running | undefined;
  #url = '';

  private constructor(folder: string, emulator: Running) {
    this.#folder = folder;
    this.#emulator = emulator;
  }

  static async start(): Promise<KillableRoute> {
    const folder = mkdtempSync(join(tmpdir(), 'ai-sdk-'));
    const emulator = await launchEmulator([], folder);
    const route = new KillableRoute(folder, emulator);
    await route.begin();
    return route;
  }

  get place(): AiSdkPlace {
    const ledger = join(this.#folder, 'ledger.jsonl');
    return { url: this.#url, emulator: this.#emulator.url, ledger, pace: 0 };
  }

  async begin(): Promise<void> {
    this.#running = await launchProgram({
      command: process.execPath,
      args: ['--input-type=module', '--eval', script],
      // Where its packages are.
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      variables: {
        EMULATOR: this.#emulator.url,
        LEDGER: this.place.ledger,
        PORT: this.#url === '' ? '0' : new URL(this.#url).port,
      },
      listening,
    });
    this.#url = this.#running.url;
    await warmUp(this.#url);
  }

  /** Has it stop at a place, if it comes there. */
  async holdAt(place: HoldPlace): Promise<void> {
    await fetch(`${this.#url}/hold/${place}`, { method: 'POST' });
  }

  /** Resolves when it has come there. */
  async held(): Promise<void> {
    await fetch(`${this.#url}/held`);
  }

  /** Ends it in the middle of whatever it does. */
  async kill(): Promise<void> {
    await end(this.#running, 'SIGKILL');
    this.#running = undefined;
  }

  async stop(): Promise<void> {
    await this.kill();
    await end(this.#emulator, 'SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
    expectEndedWell(this.#emulator);
  }
}
