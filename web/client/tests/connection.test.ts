/** How a connection is opened, held, given up and closed. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AdkStreamError } from '../src/adk-stream-error.ts';
import { ApiError } from '../src/api-error.ts';
import { WebSocketBlockedError } from '../src/connection.ts';
import type { AbortFrame, PingFrame, RequestFrame } from '../src/frame.ts';
import { ticketFrom } from '../src/ticket.ts';
import { AdkStreamChatTransport } from '../src/transport.ts';
import type { WebSocketLike } from '../src/web-socket.ts';
import { plainText } from './support/flows.ts';
import { MemoryChat } from './support/memory-chat.ts';
import { atOnce, open, play, shown } from './support/play.ts';

/** Any frame of a client, with a request or without. */
type SentFrame = (RequestFrame | AbortFrame) | (PingFrame & { requestId?: undefined });

/** A socket in the hands of the test. */
class ManualSocket implements WebSocketLike {
  static all: ManualSocket[] = [];
  readyState = 0;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  readonly url: string;
  readonly protocols: string | string[] | undefined;
  readonly sent: SentFrame[] = [];

  constructor(url: string, protocols?: string | string[]) {
    this.url = url;
    this.protocols = protocols;
    ManualSocket.all.push(this);
  }

  send(data: string): void {
    this.sent.push(JSON.parse(data) as SentFrame);
  }

  close(): void {
    this.readyState = 3;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.({} as never);
  }

  lose(code = 1006, reason = ''): void {
    this.readyState = 3;
    this.onclose?.({ code, reason } as never);
  }

  receive(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) } as never);
  }

  get last(): SentFrame {
    return this.sent.at(-1) ?? { type: 'abort', requestId: 'nothing was sent' };
  }
}

const socket = (index = -1): ManualSocket => {
  const found = ManualSocket.all.at(index);
  if (found === undefined) {
    throw new Error('no socket was opened');
  }
  return found;
};

/** Nobody who could say why a socket does not open. */
const unreachable: typeof globalThis.fetch = async () => {
  throw new TypeError('fetch failed');
};

const base = { api: 'http://fake/api/chat', webSocket: ManualSocket, fetch: unreachable };

const request = {
  chatId: 'chat',
  trigger: 'submit-message' as const,
  messageId: undefined,
  messages: [{ id: 'u', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }],
  abortSignal: undefined,
};

beforeEach(() => {
  ManualSocket.all = [];
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets everything happen that needs no time. */
const settle = () => vi.advanceTimersByTimeAsync(0);

describe('the address', () => {
  test.each([
    [{ api: 'http://here/api/chat' }, 'ws://here/api/chat/live'],
    [{ api: 'https://here/api/chat' }, 'wss://here/api/chat/live'],
    [{ api: '/x', url: 'wss://there/live?a=1' }, 'wss://there/live?a=1'],
    [{ api: 'http://here/api', params: { b: '2' } }, 'ws://here/api/live?b=2'],
    [{ api: 'http://here/api', ticket: () => 'a b' }, 'ws://here/api/live?ticket=a+b'],
  ])('%o is %s', async (options, url) => {
    const transport = new AdkStreamChatTransport({ ...options, webSocket: ManualSocket });
    await transport.sendMessages(request);
    await settle();
    expect(socket().url).toBe(url);
    transport.close();
  });

  test('is the page’s own where nothing is said', async () => {
    vi.stubGlobal('location', { href: 'https://page.example/chat?x#y' });
    const transport = new AdkStreamChatTransport({ webSocket: ManualSocket });
    await transport.sendMessages(request);
    await settle();
    expect(socket().url).toBe('wss://page.example/api/chat/live');
    transport.close();
    vi.unstubAllGlobals();
  });

  test('has to be absolute where there is no page', async () => {
    const transport = new AdkStreamChatTransport({ webSocket: ManualSocket });
    const stream = await transport.sendMessages(request);
    await expect(stream.getReader().read()).rejects.toThrow(/absolute/);
  });
});

describe('what is sent', () => {
  test('has the fields of the official frames', async () => {
    const transport = new AdkStreamChatTransport({
      ...base,
      headers: async () => ({ 'x-one': '1', 'x-two': '1' }),
      body: { a: 1, b: 1 },
      profile: 'v7',
      protocols: ['p'],
    });
    await transport.sendMessages({
      ...request,
      headers: { 'x-two': '2' },
      body: { b: 2 },
      metadata: { m: 1 },
    });
    await settle();
    expect(socket().protocols).toEqual(['p']);
    socket().open();
    await settle();
    expect(socket().sent).toEqual([
      {
        type: 'send',
        requestId: expect.any(String),
        resumable: true,
        id: 'chat',
        trigger: 'submit-message',
        messages: request.messages,
        headers: { 'x-one': '1', 'x-two': '2' },
        body: { profile: 'v7', a: 1, b: 2 },
        metadata: { m: 1 },
      },
    ]);
    transport.close();
  });

  test('can be prepared, as in the SDK’s own transports', async () => {
    const transport = new AdkStreamChatTransport({
      ...base,
      prepareSendMessagesRequest: ({ id, messages, body }) => ({
        messages: messages.slice(-1),
        body: { ...body, id },
        headers: { 'x-prepared': 'yes' },
      }),
    });
    await transport.sendMessages({
      ...request,
      messages: [...request.messages, ...request.messages],
    });
    await settle();
    socket().open();
    await settle();
    expect(socket().last).toMatchObject({
      messages: request.messages,
      body: { id: 'chat' },
      headers: { 'x-prepared': 'yes' },
    });
    transport.close();
  });

  test('can be prepared for a stream that is resumed, too', async () => {
    const asked: object[] = [];
    const transport = new AdkStreamChatTransport({
      ...base,
      seqOf: () => 7,
      headers: { 'x-own': '1' },
      prepareReconnectToStreamRequest: request => {
        asked.push(request);
        return { body: { ...request.body, region: 'north' }, headers: { 'x-prepared': 'yes' } };
      },
    });
    const resumed = transport.reconnectToStream({ chatId: 'chat', metadata: { m: 1 } });
    resumed.catch(() => undefined);
    await settle();
    socket().open();
    await settle();
    expect(asked).toEqual([
      { id: 'chat', requestMetadata: { m: 1 }, body: { after: 7 }, headers: { 'x-own': '1' } },
    ]);
    expect(socket().last).toMatchObject({
      type: 'resume',
      body: { after: 7, region: 'north' },
      headers: { 'x-prepared': 'yes' },
    });
    transport.close();
  });
});

describe('the light', () => {
  test('goes on, off and on again', async () => {
    const transport = new AdkStreamChatTransport({ ...base, reconnect: { minDelayMs: 100 } });
    const seen: string[] = [];
    const leave = transport.connection.subscribe(() => seen.push(transport.connection.get()));
    expect(transport.connection.get()).toBe('closed');
    await transport.sendMessages(request);
    await settle();
    socket().open();
    socket().lose();
    await vi.advanceTimersByTimeAsync(100);
    socket().open();
    transport.close();
    leave();
    await transport.sendMessages(request);
    expect(seen).toEqual(['connecting', 'open', 'connecting', 'open', 'closed']);
    transport.close();
  });

  test('stays off when nobody needs it any more', async () => {
    const played = await playedInRealTime();
    played.server.sockets[0]?.lose();
    expect(played.transport.connection.get()).toBe('closed');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(played.server.sockets).toHaveLength(1);
  });
});

async function playedInRealTime() {
  vi.useRealTimers();
  const played = await play(plainText);
  vi.useFakeTimers();
  return played;
}

describe('a connection that is lost', () => {
  test('is tried again after longer and longer pauses, which chance shortens', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    const transport = new AdkStreamChatTransport({
      ...base,
      reconnect: { minDelayMs: 100, maxDelayMs: 400, attempts: 5 },
    });
    const stream = await transport.sendMessages(request);
    const failed = expect(stream.getReader().read()).rejects.toThrow(/network connection/);
    const pauses = [];
    for (let at = 1; at <= 5; at++) {
      await settle();
      socket().lose();
      const before = Date.now();
      while (ManualSocket.all.length === at) {
        await vi.advanceTimersByTimeAsync(1);
      }
      pauses.push(Date.now() - before);
    }
    expect(pauses).toEqual([50, 100, 200, 200, 200]);
    socket().lose();
    await failed;
    expect(transport.connection.get()).toBe('closed');
    random.mockRestore();
  });

  test('is tried at once when the network is back', async () => {
    const target = new EventTarget();
    vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
    vi.stubGlobal('removeEventListener', target.removeEventListener.bind(target));
    const transport = new AdkStreamChatTransport({ ...base, reconnect: { minDelayMs: 60_000 } });
    await transport.sendMessages(request);
    await settle();
    socket().lose();
    await settle();
    target.dispatchEvent(new Event('online'));
    await settle();
    expect(ManualSocket.all).toHaveLength(2);
    // Nobody listens to it while it is not lost.
    target.dispatchEvent(new Event('online'));
    await settle();
    expect(ManualSocket.all).toHaveLength(2);
    transport.close();
    vi.unstubAllGlobals();
  });

  test('that does not open is lost', async () => {
    const transport = new AdkStreamChatTransport({ ...base, reconnect: atOnce });
    await transport.sendMessages(request);
    await vi.advanceTimersByTimeAsync(15_100);
    expect(ManualSocket.all).toHaveLength(2);
    expect(socket(0).readyState).toBe(3);
    transport.close();
  });

  test('keeps no more requests than it may', async () => {
    const transport = new AdkStreamChatTransport({ ...base, maxWaiting: 2 });
    await transport.sendMessages(request);
    await transport.sendMessages(request);
    await expect(transport.sendMessages(request)).rejects.toThrow(/Too many requests/);
    await settle();
    socket().open();
    await settle();
    await transport.sendMessages(request);
    await settle();
    expect(socket().sent).toHaveLength(3);
    transport.close();
  });
});

describe('a connection that is silent', () => {
  async function silent() {
    const transport = new AdkStreamChatTransport({
      ...base,
      heartbeatMs: 1000,
      reconnect: atOnce,
    });
    await transport.sendMessages(request);
    await settle();
    socket().open();
    await settle();
    await vi.advanceTimersByTimeAsync(1000);
    return transport;
  }

  test('is asked for a sign of life', async () => {
    const transport = await silent();
    expect(socket().sent).toHaveLength(2);
    const probe = socket().last;
    expect(probe).toEqual({ type: 'ping', timestamp: expect.any(Number) });
    socket().receive({ ...probe, type: 'pong' });
    await vi.advanceTimersByTimeAsync(999);
    expect(ManualSocket.all).toHaveLength(1);
    expect(transport.connection.get()).toBe('open');
    transport.close();
  });

  test('is given up when it gives none', async () => {
    const transport = await silent();
    await vi.advanceTimersByTimeAsync(1002);
    expect(ManualSocket.all).toHaveLength(2);
    expect(transport.connection.get()).toBe('connecting');
    transport.close();
  });

  test('is left alone while nobody waits', async () => {
    const transport = new AdkStreamChatTransport({ ...base, heartbeatMs: 1000 });
    await transport.sendMessages(request);
    await settle();
    socket().open();
    await settle();
    socket().receive({ type: 'end', requestId: socket().last.requestId });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(socket().sent).toHaveLength(1);
    transport.close();
  });
});

describe('a ticket', () => {
  test('that is refused is the end of it', async () => {
    const fetch = async () =>
      Response.json({ error: { code: 'unauthorized', message: 'no' } }, { status: 401 });
    const ticket = ticketFrom({ api: 'http://fake/api/ticket', fetch });
    const transport = new AdkStreamChatTransport({ ...base, ticket });
    const stream = await transport.sendMessages(request);
    const read = stream.getReader().read();
    await expect(read).rejects.toThrow(ApiError);
    await expect(read).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
    expect(ManualSocket.all).toEqual([]);
  });

  test('that a busy server refuses is requested again', async () => {
    const ticket = ticketFrom({
      api: 'http://fake/api/ticket',
      fetch: vi
        .fn<typeof globalThis.fetch>()
        .mockResolvedValueOnce(Response.json({}, { status: 503 }))
        .mockResolvedValueOnce(Response.json({ ticket: 'one' })),
    });
    const transport = new AdkStreamChatTransport({ ...base, ticket, reconnect: atOnce });
    await transport.sendMessages(request);
    await vi.advanceTimersByTimeAsync(5);
    expect(socket().url).toMatch(/\?ticket=one$/);
    transport.close();
  });

  test('is requested again with every socket, and again where the network failed', async () => {
    const ticket = vi
      .fn<() => Promise<string>>()
      .mockRejectedValueOnce(new TypeError('fetch failed'))
      .mockResolvedValueOnce('one')
      // For the question why it did not open.
      .mockResolvedValueOnce('asked')
      .mockResolvedValueOnce('two');
    const transport = new AdkStreamChatTransport({ ...base, ticket, reconnect: atOnce });
    await transport.sendMessages(request);
    await vi.advanceTimersByTimeAsync(5);
    expect(socket().url).toMatch(/\?ticket=one$/);
    socket().lose();
    await vi.advanceTimersByTimeAsync(5);
    expect(socket().url).toMatch(/\?ticket=two$/);
    transport.close();
  });
});

test('a request that is too large is not sent again', async () => {
  const transport = new AdkStreamChatTransport({ ...base, reconnect: atOnce });
  const stream = await transport.sendMessages(request);
  await settle();
  socket().open();
  await settle();
  const read = expect(stream.getReader().read()).rejects.toThrow(/refused.*larger than allowed/);
  socket().lose(1009, 'larger than allowed');
  await read;
  expect(transport.connection.get()).toBe('closed');
});

test('a request that the server never acknowledges is not sent for ever', async () => {
  const transport = new AdkStreamChatTransport({ ...base, reconnect: atOnce });
  const stream = await transport.sendMessages(request);
  const read = expect(stream.getReader().read()).rejects.toThrow(/whenever the request is sent/);
  for (let lost = 0; lost < 6; lost++) {
    await vi.advanceTimersByTimeAsync(5);
    socket().open();
    await settle();
    expect(socket().sent).toHaveLength(1);
    socket().lose();
  }
  await vi.advanceTimersByTimeAsync(5);
  socket().open();
  await settle();
  expect(socket().sent).toEqual([]);
  await read;
  transport.close();
});

test('an error of one request is that of no other', async () => {
  const transport = new AdkStreamChatTransport(base);
  const [one, two] = [await transport.sendMessages(request), await transport.sendMessages(request)];
  await settle();
  socket().open();
  await settle();
  const [first, second] = socket().sent;
  socket().receive({
    type: 'error',
    requestId: first?.requestId,
    errorText: 'too_many_requests: Wait. [r-1]',
    code: 'too_many_requests',
    retryAfterMs: 1500,
  });
  socket().receive({ type: 'start', requestId: second?.requestId });
  socket().receive({ type: 'end', requestId: second?.requestId });
  await expect(one.getReader().read()).rejects.toMatchObject({
    name: 'AdkStreamError',
    code: 'too_many_requests',
    message: 'Wait. [r-1]',
    retryAfterMs: 1500,
  });
  expect(await two.getReader().read()).toEqual({ done: true, value: undefined });
  transport.close();
});

test('closing it ends every stream, and a later request opens another', async () => {
  const transport = new AdkStreamChatTransport(base);
  const stream = await transport.sendMessages(request);
  const resumed = expect(transport.reconnectToStream({ chatId: 'chat' })).rejects.toThrow(/closed/);
  await settle();
  socket().open();
  await settle();
  const read = expect(stream.getReader().read()).rejects.toThrow(/closed/);
  transport.close();
  await Promise.all([read, resumed]);
  expect(socket().readyState).toBe(3);
  expect(transport.connection.get()).toBe('closed');
  await transport.sendMessages(request);
  await settle();
  expect(ManualSocket.all).toHaveLength(2);
  transport.close();
});

test('a stream that nobody reads any more is aborted', async () => {
  const transport = new AdkStreamChatTransport(base);
  const stream = await transport.sendMessages(request);
  await settle();
  socket().open();
  await settle();
  const { requestId } = socket().last;
  await stream.cancel();
  expect(socket().last).toEqual({ type: 'abort', requestId });
  transport.close();
});

test('a resumed stream that is given up before it came stops nothing', async () => {
  vi.useRealTimers();
  const played = open(plainText);
  const control = new AbortController();
  const resumed = played.transport.reconnectToStream({
    chatId: 'chat',
    abortSignal: control.signal,
  });
  control.abort();
  await expect(resumed).rejects.toMatchObject({ name: 'AbortError' });
  expect(played.server.posts).toEqual([]);
});

test('a chat that the server forgot is an error', async () => {
  vi.useRealTimers();
  const played = open(plainText, { cutsAt: [5], forgets: true });
  await played.chat.say('hi');
  expect(played.chat.error?.message).toMatch(/no longer there/);
});

test('a turn that failed meanwhile is an error with all that the server says of it', async () => {
  vi.useRealTimers();
  const error = { code: 'rate_limited', message: 'Too many requests.', retryAfterMs: 18_000 };
  const played = open(plainText, { cutsAt: [5] });
  played.server.turn.failure = error;
  await played.chat.say('hi');
  expect(played.chat.error).toBeInstanceOf(AdkStreamError);
  expect(played.chat.error).toMatchObject(error);
});

test('a chat that is handed over goes on with the next server', async () => {
  vi.useRealTimers();
  const whole = await play(plainText);
  const played = open(plainText);
  const data = { code: 'handed_over', message: 'Come back.' };
  played.server.intruder = (frame, count) =>
    count === 6 ? [{ ...frame, gap: true, chunk: { type: 'data-error', data } }] : [frame];
  await played.chat.say('hi');
  expect(played.chat.error).toBeUndefined();
  expect(shown(played)).toEqual(shown(whole));
  expect(played.server.sockets).toHaveLength(2);
});

describe('a socket that does not open', () => {
  const refuse = (status: number, code: string) =>
    vi.fn<typeof globalThis.fetch>(async () =>
      Response.json({ error: { code, message: 'no' } }, { status }),
    );

  test.each([
    [401, 'unauthorized'],
    [403, 'foreign_origin'],
  ])('because of %i is the end of it', async (status, code) => {
    const fetch = refuse(status, code);
    const transport = new AdkStreamChatTransport({ ...base, fetch });
    const stream = await transport.sendMessages(request);
    const failed = expect(stream.getReader().read()).rejects.toMatchObject({ status, code });
    await settle();
    socket().lose();
    await failed;
    expect(String(fetch.mock.calls[0]?.[0])).toBe('http://fake/api/chat/live');
    expect(ManualSocket.all).toHaveLength(1);
    expect(transport.connection.get()).toBe('closed');
  });

  test('while plain requests are served is the end of it after some tries', async () => {
    const fetch = refuse(426, 'upgrade_required');
    const transport = new AdkStreamChatTransport({ ...base, fetch, reconnect: atOnce });
    const stream = await transport.sendMessages(request);
    const failed = expect(stream.getReader().read()).rejects.toThrow(WebSocketBlockedError);
    for (let tried = 1; tried <= 3; tried++) {
      await vi.advanceTimersByTimeAsync(5);
      expect(ManualSocket.all).toHaveLength(tried);
      socket().lose();
    }
    await failed;
    expect(transport.connection.get()).toBe('closed');
  });

  test.each([
    [200, WebSocketBlockedError],
    [404, ApiError],
    [405, ApiError],
  ])('while %i is answered is the end of it after as many', async (status, kind) => {
    const fetch = vi.fn(async () => new Response('<!doctype html>', { status }));
    const transport = new AdkStreamChatTransport({ ...base, fetch, reconnect: atOnce });
    const stream = await transport.sendMessages(request);
    const failed = stream.getReader().read();
    const isOfKind = expect(failed).rejects.toThrow(kind);
    const hasStatus = expect(failed).rejects.toMatchObject({ status });
    for (let tried = 1; tried <= 3; tried++) {
      await vi.advanceTimersByTimeAsync(5);
      expect(ManualSocket.all).toHaveLength(tried);
      socket().lose();
    }
    await Promise.all([isOfKind, hasStatus]);
    expect(transport.connection.get()).toBe('closed');
  });

  test('once, as when the server was restarted in between, is tried again', async () => {
    const fetch = refuse(426, 'upgrade_required');
    const transport = new AdkStreamChatTransport({ ...base, fetch, reconnect: atOnce });
    await transport.sendMessages(request);
    for (let tried = 1; tried <= 4; tried++) {
      await vi.advanceTimersByTimeAsync(5);
      socket().lose();
      await vi.advanceTimersByTimeAsync(5);
      socket().open();
      socket().lose();
    }
    await vi.advanceTimersByTimeAsync(5);
    expect(transport.connection.get()).toBe('connecting');
    transport.close();
  });

  test.each([408, 425, 429, 500, 502, 503])('because of %i is tried again', async status => {
    const fetch = refuse(status, '');
    const transport = new AdkStreamChatTransport({ ...base, fetch, reconnect: atOnce });
    await transport.sendMessages(request);
    for (let tried = 1; tried <= 6; tried++) {
      await vi.advanceTimersByTimeAsync(5);
      expect(ManualSocket.all).toHaveLength(tried);
      socket().lose();
    }
    transport.close();
  });
});

test('a chat of the major is served by it', () => {
  // Only the types are of interest here.
  const transport = new AdkStreamChatTransport();
  expect(new MemoryChat({ transport }).status).toBe('ready');
});
