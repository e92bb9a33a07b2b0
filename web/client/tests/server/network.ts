/** A connection to the server that the test can cut, as a network does. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class Network {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How often somebody connected. */
  connections = 0;
  /** Whether it turns everybody away. */
  isDown = false;

  private constructor(target: () => string | undefined) {
    this.#server = createServer(client => {
      this.connections++;
      const address = this.isDown ? undefined : target();
      if (address === undefined) {
        client.destroy();
        return;
      }
      const { port, hostname } = new URL(address);
      const upstream = connect(Number(port), hostname);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(from);
        from.pipe(to);
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
        // A reset is what this is about.
        from.on('error', () => {});
      }
    });
  }

  static async start(target: () => string | undefined): Promise<Network> {
    const network = new Network(target);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) {
      socket.resetAndDestroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
