/** A server behind a WebSocket without a network, whose connection can be cut at any frame. */
import type { ClientFrame, SendFrame } from '../../src/frame.ts';
import type { NumberedChunk } from '../../src/stream-position.ts';
import type { WebSocketLike } from '../../src/web-socket.ts';
import type { FakeTurn, ReplayForm } from './fake-turn.ts';

export type Fault = {
  /** The frame, counted over all sockets, that is not delivered any more: its socket is lost. */
  cutsAt?: number[];
  /** The frame of the client, counted over all sockets, that is lost with its socket. */
  losesAt?: number;
  /** Whether the chat is gone by the time that a client comes back. */
  forgets?: boolean;
  replayForm?: ReplayForm;
};

export class FakeServer {
  readonly turn: FakeTurn;
  readonly fault: Fault;
  /** What clients sent, in order. */
  readonly received: ClientFrame[] = [];
  sockets: FakeSocket[] = [];
  /** Frames in place of those of the turn. */
  intruder: ((frame: object, count: number) => (object | string)[]) | undefined;
  #delivered = 0;
  #received = 0;
  /** Requests beside the socket. */
  readonly posts: string[] = [];

  constructor(turn: FakeTurn, fault: Fault = {}) {
    this.turn = turn;
    this.fault = fault;
  }

  /** For the transport's `webSocket`. */
  get WebSocket() {
    const server = this;
    return class extends FakeSocket {
      constructor(url: string) {
        super(url, server);
      }
    };
  }

  /** For the transport's `fetch`. */
  readonly fetch = async (url: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    this.posts.push(`${init?.method ?? 'GET'} ${String(url)}`);
    return Response.json({ stopped: true });
  };

  receive(socket: FakeSocket, frame: ClientFrame): void {
    if (this.#received++ === this.fault.losesAt) {
      socket.lose();
      return;
    }
    this.received.push(frame);
    const { turn, fault } = this;
    const form = fault.replayForm ?? {};
    if (frame.type === 'send') {
      this.#open(frame);
      this.#match(socket, frame.requestId, turn.current);
    } else if (frame.type === 'ping') {
      this.#deliver(socket, { type: 'pong', timestamp: frame.timestamp });
    } else if (frame.type === 'resume') {
      const { requestId } = frame;
      if (turn.opened === 0 || fault.forgets) {
        this.#deliver(socket, { type: 'no-active', requestId });
      } else if (frame.lastSequence === undefined) {
        this.#match(socket, requestId, turn.replay(form));
      } else {
        this.#match(socket, requestId, turn.rest(frame, form));
      }
    }
  }

  /** A request opens a window; the same request again does not. */
  #open({ requestId }: SendFrame): void {
    if (!this.#seen.has(requestId)) {
      this.#seen.add(requestId);
      this.turn.opened++;
    }
  }
  readonly #seen = new Set<string>();

  #match(socket: FakeSocket, requestId: string, chunks: NumberedChunk[]): void {
    this.#deliver(socket, { type: 'start', requestId });
    for (const numbered of chunks) {
      this.#deliver(socket, { type: 'chunk', requestId, ...numbered });
    }
    this.#deliver(socket, { type: 'end', requestId });
  }

  #deliver(socket: FakeSocket, frame: object): void {
    if (socket.readyState !== 1) {
      return;
    }
    const count = this.#delivered++;
    if (this.fault.cutsAt?.includes(count)) {
      socket.lose();
      return;
    }
    for (const sent of this.intruder?.(frame, count) ?? [frame]) {
      socket.onmessage?.({ data: typeof sent === 'string' ? sent : JSON.stringify(sent) } as never);
    }
  }

  /** How many frames it has tried to deliver. */
  get count(): number {
    return this.#delivered;
  }
}

export class FakeSocket implements WebSocketLike {
  readyState = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  readonly url: string;
  readonly #server: FakeServer;

  constructor(url: string, server: FakeServer) {
    this.url = url;
    this.#server = server;
    server.sockets.push(this);
    queueMicrotask(() => {
      if (this.readyState === 0) {
        this.readyState = 1;
        this.onopen?.({} as never);
      }
    });
  }

  send(data: string): void {
    const frame = JSON.parse(data) as ClientFrame;
    queueMicrotask(() => {
      if (this.readyState === 1) {
        this.#server.receive(this, frame);
      }
    });
  }

  close(): void {
    this.readyState = 3;
  }

  lose(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code, reason: '' } as never);
  }
}
