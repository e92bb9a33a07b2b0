/**
 * Plays the frames of one request into the real WebSocket transport, next to another request of
 * the same socket: a frame that the client does not understand takes that one down as well.
 */
import { setImmediate as nextTask } from 'node:timers/promises';
import { type UIMessageChunk, WebSocketChatTransport } from 'ai-7';
import { FakeSocket } from './fake-socket.ts';

export type ServerFrame = {
  type: string;
  requestId: string;
  sequence?: number;
  chunk?: unknown;
  errorText?: string;
};

export type Kind = 'send' | 'resume';

export type Playback = {
  /** What the request got: its chunks, and the error that it ended with. */
  chunks: unknown[];
  error?: string;
  /** Whether the client got `no-active`. */
  nothingToResume: boolean;
  /** The outcome of the other request: nothing, or the error that hit it. */
  bystanderError?: string;
};

export async function play(frames: ServerFrame[], kind: Kind): Promise<Playback> {
  let socket: FakeSocket | undefined;
  const transport = new WebSocketChatTransport({
    url: 'ws://localhost/live',
    webSocket: function socketOf() {
      return new FakeSocket(created => {
        socket = created;
      });
    } as unknown as NonNullable<
      ConstructorParameters<typeof WebSocketChatTransport>[0]['webSocket']
    >,
  });

  const bystander = send(transport, 'bystander');
  const bystanderId = await requestId(() => socket, 0);
  const subject =
    kind === 'send'
      ? send(transport, 'subject')
      : transport.reconnectToStream({ chatId: 'subject' });
  const subjectId = await requestId(() => socket, 1);

  const subjectEnd = readAll(subject);
  for (const frame of frames) {
    // The client makes its request ids itself, so the frame is addressed to the one it made.
    socket?.receive({ ...frame, requestId: subjectId });
  }
  // A request whose frames do not end it is ended here, so that it can be read to its end.
  socket?.receive({ type: 'end', requestId: subjectId });
  socket?.receive({ type: 'end', requestId: bystanderId });

  const { chunks, error, nothingToResume } = await subjectEnd;
  const { error: bystanderError } = await readAll(bystander);
  transport.close();
  return {
    chunks,
    nothingToResume,
    ...(error === undefined ? {} : { error }),
    ...(bystanderError === undefined ? {} : { bystanderError }),
  };
}

function send(
  transport: WebSocketChatTransport<never>,
  chatId: string,
): Promise<ReadableStream<UIMessageChunk>> {
  return transport.sendMessages({
    trigger: 'submit-message',
    chatId,
    messageId: undefined,
    messages: [],
    abortSignal: undefined,
  });
}

async function requestId(socket: () => FakeSocket | undefined, index: number): Promise<string> {
  for (let turn = 0; turn < 1000; turn++) {
    const id = socket()?.requestIds[index];
    if (id !== undefined) {
      return id;
    }
    await nextTask();
  }
  throw new Error('the transport sent no request');
}

async function readAll(
  response: Promise<ReadableStream<UIMessageChunk> | null>,
): Promise<Pick<Playback, 'chunks' | 'error' | 'nothingToResume'>> {
  const chunks: unknown[] = [];
  try {
    const stream = await response;
    if (stream === null) {
      return { chunks, nothingToResume: true };
    }
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value);
    }
    return { chunks, nothingToResume: false };
  } catch (error) {
    return { chunks, nothingToResume: false, error: (error as Error).message };
  }
}
