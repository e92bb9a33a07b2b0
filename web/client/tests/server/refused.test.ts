/** Sockets that can't be opened, however often it is tried: the page learns so at once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { ApiError } from '../../src/api-error.ts';
import { WebSocketBlockedError } from '../../src/connection.ts';
import { AdkStreamChatTransport } from '../../src/transport.ts';
import type { AdkStreamChatTransportOptions } from '../../src/transport-options.ts';
import type { WebSocketConstructor } from '../../src/web-socket.ts';
import { MemoryChat } from '../support/memory-chat.ts';
import { serve } from './visitor.ts';

const withKeys = serve();
const open = serve({ isOpen: true });
let transport: AdkStreamChatTransport;

afterEach(() => transport.close());

/** Without options for how often it is tried: those of a page, which would try for minutes. */
async function refusal(options: AdkStreamChatTransportOptions): Promise<Error | undefined> {
  transport = new AdkStreamChatTransport(options);
  const chat = new MemoryChat({ id: 'refused', transport });
  await chat.sendMessage({ text: 'hello' });
  expect(transport.connection.get()).toBe('closed');
  return chat.error;
}

test('without a key', async () => {
  const error = await refusal({ api: `${withKeys().url}/api/chat` });
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 401, code: 'unauthorized' });
});

test('without a ticket, where only other requests have the key', async () => {
  const { key } = withKeys().newPrincipal() ?? {};
  const headers = { authorization: `Bearer ${key}` };
  const error = await refusal({ api: `${withKeys().url}/api/chat`, headers });
  expect(error).toMatchObject({ status: 401, code: 'unauthorized' });
});

test('from another site', async () => {
  const origin = 'https://elsewhere.example';
  const answers: Response[] = [];
  const error = await refusal({
    api: `${open().url}/api/chat`,
    // As a browser does, which names the site in both.
    webSocket: class extends WebSocket {
      constructor(url: string) {
        super(url, { origin });
      }
    } as unknown as WebSocketConstructor,
    fetch: async (input, init) => {
      const answer = await fetch(input, { ...init, headers: { origin } });
      answers.push(answer);
      return answer;
    },
  });
  expect(error).toMatchObject({ status: 403, code: 'foreign_origin' });
  // Or the browser would not let the page read it.
  expect(answers[0]?.headers.get('access-control-allow-origin')).toBe(origin);
});

type Answer = { status: number; body: string };

/** What fails with a plain server in front, or in place, of ours, which turns every upgrade away. */
async function behind(
  answer: (path: string) => Answer | Promise<Answer>,
  type = 'application/json',
): Promise<Error | undefined> {
  const proxy = createServer(async (request, response) => {
    const { status, body } = await answer(request.url ?? '');
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  });
  proxy.on('upgrade', (_, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  try {
    return await refusal({ api: `http://127.0.0.1:${port}/api/chat` });
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

test('through a proxy that does not pass WebSockets on', async () => {
  const error = await behind(async path => {
    const answer = await fetch(`${open().url}${path}`);
    return { status: answer.status, body: await answer.text() };
  });
  expect(error).toBeInstanceOf(WebSocketBlockedError);
  expect(error).toMatchObject({ status: 426, message: expect.stringMatching(/upgrade/) });
});

test('at a development server that answers everything with its page', async () => {
  const error = await behind(() => ({ status: 200, body: '<!doctype html>' }), 'text/html');
  expect(error).toBeInstanceOf(WebSocketBlockedError);
  expect(error).toMatchObject({
    status: 200,
    message: expect.stringMatching(/proxy for WebSockets/),
  });
});

test('at an address that is not there', async () => {
  const error = await behind(() => ({ status: 404, body: 'Not Found' }), 'text/plain');
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404 });
});

test.each([400, 405, 410])('through a proxy that answers %i', async status => {
  expect(await behind(() => ({ status, body: '{}' }))).toMatchObject({ status });
});
