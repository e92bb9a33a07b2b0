/** A WebSocket without a network: it opens at once and keeps what was sent. */
export class FakeSocket {
  readyState = 0;
  readonly bufferedAmount = 0;
  binaryType = 'arraybuffer';
  onopen: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;

  /** The request ids of the frames that the client sent. */
  readonly requestIds: string[] = [];

  constructor(onCreate: (socket: FakeSocket) => void) {
    onCreate(this);
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen?.({});
    });
  }

  send(data: string): void {
    this.requestIds.push((JSON.parse(data) as { requestId: string }).requestId);
  }

  close(): void {
    this.readyState = 3;
  }

  receive(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}
