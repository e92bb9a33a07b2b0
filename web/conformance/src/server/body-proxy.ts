/** A proxy between pages and the server that keeps the bodies of event streams from ending. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export class BodyProxy {
  readonly #http: HttpServer;
  readonly #held: (() => void)[] = [];
  #isReleased = false;

  private constructor(target: () => string) {
    this.#http = createServer((asked, answer) => {
      const { method, headers, url = '/' } = asked;
      const forwarded = request(new URL(url, target()), { method, headers }, given => {
        answer.writeHead(given.statusCode ?? 502, given.headers);
        const isStream = given.headers['content-type']?.startsWith('text/event-stream') === true;
        given.pipe(answer, { end: false });
        given.once('end', () => {
          if (isStream && !this.#isReleased) {
            this.#held.push(() => answer.end());
          } else {
            answer.end();
          }
        });
      });
      forwarded.once('error', () => answer.destroy());
      asked.pipe(forwarded);
    });
  }

  static async start(target: () => string): Promise<BodyProxy> {
    const proxy = new BodyProxy(target);
    proxy.#http.listen(0, '127.0.0.1');
    await once(proxy.#http, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** How many bodies are kept from ending. */
  get held(): number {
    return this.#held.length;
  }

  /** Ends them all, and those to come when they end. */
  release(): void {
    this.#isReleased = true;
    for (const end of this.#held.splice(0)) {
      end();
    }
  }

  stop(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }
}
