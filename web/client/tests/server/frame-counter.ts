/** The environment's WebSocket, with its frames counted, and a say in which is the last. */
import type { WebSocketConstructor, WebSocketLike } from '../../src/web-socket.ts';

export type DeliveredFrame = { type: string; requestId?: string; chunk?: { type: string } };

export class FrameCounter {
  /** Every frame that was delivered, over all sockets. */
  readonly delivered: DeliveredFrame[] = [];
  /** Every frame that the client sent. */
  readonly sent: { type: string; id?: string }[] = [];
  sockets = 0;
  /** Called before each frame with its number; false, if it is not to be delivered any more. */
  allow: (count: number, frame: DeliveredFrame) => boolean = () => true;

  get WebSocket(): WebSocketConstructor {
    const counter = this;
    return class implements WebSocketLike {
      onopen: ((event: never) => void) | null = null;
      onmessage: ((event: never) => void) | null = null;
      onerror: ((event: never) => void) | null = null;
      onclose: ((event: never) => void) | null = null;
      readonly #socket: WebSocket;
      #isBlocked = false;

      constructor(url: string, protocols?: string | string[]) {
        counter.sockets++;
        this.#socket = new WebSocket(url, protocols);
        this.#socket.onopen = event => this.onopen?.(event as never);
        this.#socket.onerror = event => this.onerror?.(event as never);
        this.#socket.onclose = event => this.onclose?.(event as never);
        this.#socket.onmessage = event => {
          const frame: DeliveredFrame = JSON.parse(event.data);
          this.#isBlocked ||= !counter.allow(counter.delivered.length, frame);
          if (!this.#isBlocked) {
            counter.delivered.push(frame);
            this.onmessage?.(event as never);
          }
        };
      }

      get readyState(): number {
        return this.#socket.readyState;
      }

      send(data: string): void {
        counter.sent.push(JSON.parse(data));
        this.#socket.send(data);
      }

      close(code?: number, reason?: string): void {
        this.#socket.close(code, reason);
      }
    };
  }
}
