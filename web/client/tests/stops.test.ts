/** A stop reaches the turn that it is meant for, and no other. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClientFrame } from '../src/frame.ts';
import { AdkStreamChatTransport } from '../src/transport.ts';
import { FakeServer, type FakeSocket } from './support/fake-server.ts';
import { FakeTurn } from './support/fake-turn.ts';
import { plainText } from './support/flows.ts';

const request = {
  chatId: 'chat',
  trigger: 'submit-message' as const,
  messageId: undefined,
  messages: [],
};

/** A server that answers nothing, and what it was sent. */
class SilentServer extends FakeServer {
  /** Of whatever kind they are, with the socket that they came on. */
  readonly frames: { socket: number; frame: ClientFrame }[] = [];

  override receive(socket: FakeSocket, frame: ClientFrame): void {
    this.frames.push({ socket: this.sockets.indexOf(socket), frame });
  }

  /** What came on a socket. */
  on(socket: number): ClientFrame[] {
    return this.frames.filter(it => it.socket === socket).map(it => it.frame);
  }

  answer(frame: object): void {
    this.sockets.at(-1)?.onmessage?.({ data: JSON.stringify(frame) } as never);
  }
}

let server: SilentServer;
let transport: AdkStreamChatTransport;

beforeEach(() => {
  vi.useFakeTimers();
  server = new SilentServer(new FakeTurn('m', plainText.windows));
  transport = new AdkStreamChatTransport({
    api: 'http://fake/api/chat',
    webSocket: server.WebSocket,
    fetch: server.fetch,
    reconnect: { minDelayMs: 1, maxDelayMs: 2 },
    stopOnAbort: true,
  });
});

afterEach(() => {
  transport.close();
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(5);

/** Sends a message, and stops its chat again. */
async function stopped(): Promise<void> {
  const control = new AbortController();
  await transport.sendMessages({ ...request, abortSignal: control.signal });
  await settle();
  control.abort();
  await settle();
}

const stop = { type: 'abort', requestId: expect.any(String), stop: true, id: 'chat' };
const ping = { type: 'ping', timestamp: expect.any(Number) };

test('is sent again until it is confirmed', async () => {
  await stopped();
  expect(server.on(0).slice(1)).toEqual([stop, ping]);
  server.sockets[0]?.lose();
  await settle();
  expect(server.on(1)).toEqual(server.on(0).slice(1));
  server.answer({ ...server.on(1)[1], type: 'pong' });
  server.sockets[1]?.lose();
  await settle();
  expect(server.sockets).toHaveLength(2);
  expect(transport.connection.get()).toBe('closed');
});

test('is of the request that it is meant for', async () => {
  await stopped();
  const [sent, aborted] = server.on(0) as { requestId?: string }[];
  expect(aborted?.requestId).toBe(sent?.requestId);
});

test('comes before what is said next, and is not sent again behind it', async () => {
  await stopped();
  await transport.sendMessages({ ...request, abortSignal: undefined });
  await settle();
  expect(server.on(0).map(({ type }) => type)).toEqual(['send', 'abort', 'ping', 'send']);
  server.sockets[0]?.lose();
  await settle();
  expect(server.on(1).map(({ type }) => type)).toEqual(['send']);
});

test('of one chat is not dropped by what is said in another', async () => {
  await stopped();
  server.sockets[0]?.lose();
  await transport.sendMessages({ ...request, chatId: 'other', abortSignal: undefined });
  await settle();
  expect(server.on(1).map(({ type }) => type)).toEqual(['abort', 'ping', 'send']);
});

test('needs nothing beside the socket', async () => {
  await stopped();
  expect(server.posts).toEqual([]);
});
