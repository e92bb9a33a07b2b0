/**
 * Where tools at ADK ask people and pages. ADK knows one address; behind it may be any number of
 * servers, each with chats whose names begin alike, and each at another port after a restart.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export class AskRouter {
  readonly #http = createServer((request, response) => {
    this.#take(request, response).catch(error => {
      response.writeHead(500).end(String(error));
    });
  });
  /** By how the names of their chats begin. */
  readonly #servers = new Map<string, string>();

  static async start(): Promise<AskRouter> {
    const askRouter = new AskRouter();
    askRouter.#http.listen(0, '127.0.0.1');
    await once(askRouter.#http, 'listening');
    return askRouter;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#http.close();
    this.#http.closeAllConnections();
    await once(this.#http, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.method === 'PUT') {
      this.#servers.set(decodeURIComponent((request.url ?? '').slice(1)), body);
      response.writeHead(204).end();
      return;
    }
    const { chat } = JSON.parse(body) as { chat: string };
    const server = [...this.#servers].find(([beginning]) => chat.startsWith(beginning))?.[1];
    if (server === undefined) {
      response.writeHead(404).end();
      return;
    }
    // A tool that is cancelled hangs up.
    const hungUp = new AbortController();
    response.once('close', () => hungUp.abort());
    try {
      const { authorization = '' } = request.headers;
      const answer = await fetch(new URL(request.url ?? '', server), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body,
        signal: hungUp.signal,
      });
      const said = await answer.text();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(said);
    } catch {
      // Nobody is there while a server restarts.
      response.writeHead(503).end();
    }
  }
}

/** Says where the server is whose chats have names that begin so. */
export async function registerServer(
  askRouter: string,
  beginning: string,
  server: string,
): Promise<void> {
  const address = new URL(encodeURIComponent(beginning), `${askRouter}/`);
  const answer = await fetch(address, { method: 'PUT', body: server });
  if (answer.status !== 204) {
    throw new Error(`the ask router answered ${answer.status}`);
  }
}
