/** A route of the AI SDK's in this process, which keeps its requests and cuts streams off on request. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { majors } from '../sdk.ts';
import { answer, type Body, requested } from './ai-sdk-answer.ts';
import { end, expectEndedWell, launchEmulator, type Running } from './process.ts';

/** The addresses, for processes that did not start it. */
export type AiSdkPlace = {
  /** Where it listens; the route of a major is at `/MAJOR/api/chat`. */
  url: string;
  emulator: string;
  /** A line of JSON for every payment. */
  ledger: string;
  pace: number;
};

export class AiSdkRoute {
  readonly #folder: string;
  readonly #emulator: Running;
  readonly #server: Server;
  readonly #pace: number;
  /** The requests that came. */
  readonly requests: Body[] = [];
  /** The type of chunk after which the next stream that has one is cut off. */
  breakAfter: string | undefined;

  private constructor(folder: string, emulator: Running, pace: number) {
    this.#folder = folder;
    this.#emulator = emulator;
    this.#pace = pace;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.destroy(error as Error);
      });
    });
  }

  static async start({ pace = 0 }: { pace?: number } = {}): Promise<AiSdkRoute> {
    const folder = mkdtempSync(join(tmpdir(), 'ai-sdk-'));
    const emulator = await launchEmulator(['--pace', String(pace)], folder);
    const route = new AiSdkRoute(folder, emulator, pace);
    route.#server.listen(0, '127.0.0.1');
    await once(route.#server, 'listening');
    return route;
  }

  get place(): AiSdkPlace {
    const { port } = this.#server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}`,
      emulator: this.#emulator.url,
      ledger: join(this.#folder, 'ledger.jsonl'),
      pace: this.#pace,
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await end(this.#emulator, 'SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
    expectEndedWell(this.#emulator);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await requested(request);
    if (asked === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { major, body } = asked;
    this.requests.push(body);
    this.#breakIfAsked(response);
    const { emulator, ledger } = this.place;
    await answer(request, response, { major, messages: body.messages }, { emulator, ledger });
  }

  /** Cuts the connection after a chunk, as a route does that is killed. */
  #breakIfAsked(response: ServerResponse): void {
    type Write = (piece: Buffer, done?: () => void) => boolean;
    const write = response.write.bind(response) as Write;
    let isCut = false;
    response.write = (piece: Buffer | string) => {
      if (isCut) {
        return true;
      }
      const type = this.breakAfter;
      const bytes = Buffer.from(piece as Buffer);
      isCut = type !== undefined && bytes.includes(`"type":"${type}"`);
      if (isCut) {
        this.breakAfter = undefined;
      }
      return write(bytes, isCut ? () => response.destroy() : undefined);
    };
  }
}

/** The first request of each version loads much, and no test is to wait for that. */
export async function warmUp(url: string): Promise<void> {
  const hello = { id: 'first', role: 'user', parts: [{ type: 'text', text: 'Good morning!' }] };
  for (const major of majors) {
    const body = JSON.stringify({ id: 'first', messages: [hello] });
    const answer = await fetch(`${url}/${major}/api/chat`, { method: 'POST', body });
    await answer.text();
  }
}
