/** A route as the AI SDK's documentation has it: `streamText` of version 6 or 7, on the emulator of Gemini. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ai6 from 'ai-6';
import * as ai7 from 'ai-7';
import { createGoogleGenerativeAI as google6 } from 'google-6';
import { createGoogleGenerativeAI as google7 } from 'google-7';
import type { Major } from '../sdk.ts';
import { toolsFor } from './ai-sdk-tools.ts';
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

/** What `useChat` sends. */
type Body = { messages: ai7.UIMessage[] };

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
    const major = /^\/([67])\/api\/chat$/.exec(request.url ?? '')?.[1] as Major | undefined;
    if (major === undefined || request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const body = (await json(request)) as Body;
    this.requests.push(body);
    const { messages } = body;
    this.#breakIfAsked(response);
    const user = decodeURIComponent(String(request.headers['x-adk-stream-principal']));
    const tools = toolsFor(this.place.ledger, user);
    // The types of the two majors differ in what they add, not in what is used here.
    const ai = (major === '6' ? ai6 : ai7) as unknown as typeof ai7;
    const google = (major === '6' ? google6 : google7) as unknown as typeof google7;
    const baseURL = `${this.#emulator.url}/v1beta`;
    const model = google({ apiKey: 'a-key', baseURL, fetch: withPlainResults });
    const result = ai.streamText({
      model: model('gemini-3-flash'),
      messages: await ai.convertToModelMessages(messages),
      tools: tools as unknown as ai7.ToolSet,
      stopWhen: ai.stepCountIs(8),
      maxRetries: 0,
    });
    result.pipeUIMessageStreamToResponse(response, {
      originalMessages: messages,
      onError: error => (error instanceof Error ? error.message : String(error)),
    });
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

/**
 * Google's provider puts what a tool gave under `content`, and an error or a denial as a text; the demo
 * behind the emulator reads results as they are, and errors under `error`.
 */
const withPlainResults: typeof fetch = (input, init) => {
  const body = JSON.parse(String(init?.body), (key, value) => {
    if (key !== 'response' || value?.content === undefined) {
      return value;
    }
    return typeof value.content === 'string' ? { error: value.content } : value.content;
  });
  return fetch(input, { ...init, body: JSON.stringify(body) });
};

async function json(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) {
    pieces.push(piece as Buffer);
  }
  return JSON.parse(Buffer.concat(pieces).toString());
}
