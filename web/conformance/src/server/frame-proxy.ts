/** A proxy between the sockets of pages and the server that decides about every frame. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { ReceivedFrame, SentFrame } from './frame.ts';

/** A frame on its way, and how many were passed on before it. */
export type Passing =
  | { direction: 'up'; number: number; frame: SentFrame }
  | { direction: 'down'; number: number; frame: ReceivedFrame };

/** `cut` loses the frame and the connection; `hold` keeps the frame until it is released. */
export type Decision = 'pass' | 'hold' | 'cut';

export class FrameProxy {
  /** What was passed on, in order. */
  readonly passed: Passing[] = [];

  readonly #http: HttpServer = createServer();
  readonly #sockets = new Set<WebSocket>();
  readonly #held: (() => void)[] = [];
  readonly #decide: (passing: Passing) => Decision;
  readonly #target: () => string;

  private constructor(target: () => string, decide: (passing: Passing) => Decision) {
    this.#target = target;
    this.#decide = decide;
    new WebSocketServer({ server: this.#http }).on('connection', (client, { url = '/' }) => {
      // What the page says meanwhile waits in the network.
      client.pause();
      const server = new WebSocket(new URL(url, this.#target().replace(/^http/, 'ws')));
      server.once('open', () => client.resume());
      this.#join(client, server, 'up');
      this.#join(server, client, 'down');
    });
  }

  static async start(
    target: () => string,
    decide: (passing: Passing) => Decision,
  ): Promise<FrameProxy> {
    const proxy = new FrameProxy(target, decide);
    proxy.#http.listen(0, '127.0.0.1');
    await once(proxy.#http, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** How many frames are kept back. */
  get held(): number {
    return this.#held.length;
  }

  release(): void {
    for (const pass of this.#held.splice(0)) {
      pass();
    }
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#sockets) {
      socket.terminate();
    }
  }

  stop(): void {
    this.cut();
    this.#http.close();
  }

  #join(from: WebSocket, to: WebSocket, direction: Passing['direction']): void {
    this.#sockets.add(from);
    // Whatever went wrong, a close follows.
    from.on('error', () => {});
    from.on('close', () => {
      this.#sockets.delete(from);
      to.terminate();
    });
    from.on('message', data => {
      const text = String(data);
      if (from.readyState !== WebSocket.OPEN || to.readyState !== WebSocket.OPEN) {
        return;
      }
      const passing = { direction, number: this.passed.length, frame: JSON.parse(text) } as Passing;
      const pass = () => {
        this.passed.push(passing);
        to.send(text);
      };
      const decision = this.#decide(passing);
      if (decision === 'pass') {
        pass();
      } else if (decision === 'hold') {
        this.#held.push(pass);
      } else {
        from.terminate();
        to.terminate();
      }
    });
  }
}
