/** A wire between browser and server that can be cut in the middle of a word. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export class Wire {
  private readonly sockets = new Set<Socket>();

  private constructor(readonly url: string) {}

  static async to(target: string): Promise<Wire> {
    const { hostname, port } = new URL(target);
    const listener = createServer(near => {
      const far = connect(Number(port), hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        wire.sockets.add(socket);
        // Whatever ends one end, ends the other.
        socket.on('error', () => undefined);
        socket.on('close', () => {
          wire.sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const wire = new Wire(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
    onTestFinished(() => {
      listener.close();
      wire.cut();
    });
    return wire;
  }

  /** Cuts every connection there is; new ones can be made at once. */
  cut(): void {
    for (const socket of this.sockets) {
      socket.destroy();
    }
  }
}
