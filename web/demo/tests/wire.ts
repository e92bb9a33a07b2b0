/** A wire between browser and server that can be cut, or held, in the middle of a word. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export class Wire {
  private readonly sockets = new Set<Socket>();
  /** The ends at the server. */
  private readonly farEnds = new Set<Socket>();
  private isHeld = false;

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
      wire.farEnds.add(far);
      far.on('close', () => wire.farEnds.delete(far));
      if (wire.isHeld) {
        far.pause();
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

  /** The server gets what the browser sends, and the browser nothing, until it is released. */
  hold(): void {
    this.isHeld = true;
    for (const socket of this.farEnds) {
      socket.pause();
    }
  }

  release(): void {
    this.isHeld = false;
    for (const socket of this.farEnds) {
      socket.resume();
    }
  }

  /** Cuts every connection there is; new ones can be made at once. */
  cut(): void {
    for (const socket of this.sockets) {
      socket.destroy();
    }
  }
}
