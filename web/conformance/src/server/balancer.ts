/** A load balancer in front of several servers: each request goes to the next that takes it. */
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export class Balancer {
  readonly #http: HttpServer;
  readonly #servers: readonly { url: string }[];
  #next = 0;

  private constructor(servers: readonly { url: string }[]) {
    this.#servers = servers;
    this.#http = createServer((asked, answer) => {
      this.#forward(asked, answer).catch(() => answer.destroy());
    });
    this.#http.on('upgrade', (asked: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      this.#upgrade(asked, socket).catch(() => socket.destroy());
    });
  }

  static async start(servers: readonly { url: string }[]): Promise<Balancer> {
    const balancer = new Balancer(servers);
    balancer.#http.listen(0, '127.0.0.1');
    await once(balancer.#http, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked);
    const forwarded = await this.#ask(asked, request => request.end(body));
    if (forwarded === undefined) {
      answer.writeHead(502).end();
      return;
    }
    answer.once('close', () => forwarded.destroy());
    forwarded.on('error', () => answer.destroy());
    const [given] = (await once(forwarded, 'response')) as [IncomingMessage];
    answer.writeHead(given.statusCode ?? 502, given.headers);
    given.on('error', () => answer.destroy());
    given.pipe(answer);
  }

  async #upgrade(asked: IncomingMessage, socket: Socket): Promise<void> {
    const forwarded = await this.#ask(asked, request => request.end());
    if (forwarded === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      return;
    }
    forwarded.on('error', () => socket.destroy());
    forwarded.once('response', ({ statusCode }: IncomingMessage) => {
      socket.end(`HTTP/1.1 ${statusCode} Refused\r\n\r\n`);
    });
    const [given, other, head] = (await once(forwarded, 'upgrade')) as [
      IncomingMessage,
      Socket,
      Buffer,
    ];
    const lines = Object.entries(given.headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
    socket.write(head);
    other.on('error', () => socket.destroy());
    other.once('close', () => socket.destroy());
    socket.once('close', () => other.destroy());
    other.pipe(socket).pipe(other);
  }

  /** Asks the next server that is there; nobody, if none is. */
  async #ask(
    { method, headers, url = '/' }: IncomingMessage,
    send: (request: ClientRequest) => void,
  ): Promise<ClientRequest | undefined> {
    for (let tried = 0; tried < this.#servers.length; tried++) {
      const server = this.#servers[this.#next++ % this.#servers.length];
      const forwarded = request(new URL(url, server?.url), { method, headers, agent: false });
      forwarded.on('error', () => undefined);
      try {
        const [socket] = (await once(forwarded, 'socket')) as [Socket];
        if (socket.connecting) {
          await once(socket, 'connect');
        }
        send(forwarded);
        return forwarded;
      } catch {
        // It is dead: nothing was sent to it.
        forwarded.destroy();
      }
    }
    return undefined;
  }
}
