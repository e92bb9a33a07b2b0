/** What is said aloud goes with its message, in order, and not without it. */
import { expect, test, vi } from 'vitest';
import type { SpeechFrame } from '../src/speech.ts';
import { AdkStreamChatTransport } from '../src/transport.ts';
import { FakeServer } from './support/fake-server.ts';
import { FakeTurn } from './support/fake-turn.ts';
import { flowNamed } from './support/flows.ts';

const flow = flowNamed('a tool of the page behind an approval');
const message = { id: 'u1', role: 'user' as const, parts: [] };

function open() {
  const server = new FakeServer(new FakeTurn('message-1', [...flow.windows]));
  const { WebSocket, fetch } = server;
  const transport = new AdkStreamChatTransport({
    api: 'http://fake/api/chat',
    webSocket: WebSocket,
    fetch,
  });
  const send = async (chatId = 'chat') => {
    const trigger = 'submit-message' as const;
    const options = { chatId, trigger, messageId: undefined, messages: [message] };
    const stream = await transport.sendMessages({ ...options, abortSignal: undefined });
    const reader = stream.getReader();
    await reader.read();
    return reader;
  };
  return { server, transport, send };
}

const kinds = (server: FakeServer) =>
  server.received.map(frame => {
    const { type, action } = frame as unknown as { type: string; action?: string };
    return [type, action].filter(Boolean).join(' ');
  });

test('speech waits for its message and follows it on the same socket', async () => {
  const { server, transport, send } = open();
  const speech = transport.speak('chat');
  expect(speech.write(new Int16Array([1, -2, 300]))).toBe(true);
  expect(server.received).toEqual([]);
  await send();
  speech.write(new Int16Array(800));
  speech.end();
  await vi.waitFor(() => expect(server.received.length).toBe(5));
  expect(kinds(server)).toEqual([
    'send',
    'audio_control start',
    'audio_chunk',
    'audio_chunk',
    'audio_control stop',
  ]);
  expect(server.sockets.length).toBe(1);
  const chunk = server.received[2] as unknown as SpeechFrame;
  expect(chunk).toEqual({
    type: 'audio_chunk',
    id: 'chat',
    // Little-endian: 0100, feff, 2c01.
    chunk: 'AQD+/ywB',
    sampleRate: 16_000,
    channels: 1,
    bitDepth: 16,
  });
  expect(speech.write(new Int16Array(1))).toBe(false);
});

test('speech of another chat keeps waiting', async () => {
  const { server, transport, send } = open();
  transport.speak('other').write(new Int16Array(10));
  await send();
  expect(kinds(server)).toEqual(['send']);
});

test('what is said into a lost connection is lost, and said to be', async () => {
  const { server, transport, send } = open();
  const speech = transport.speak('chat');
  await send();
  server.sockets[0]?.lose();
  expect(speech.write(new Int16Array(10))).toBe(false);
});

test('no more than ten seconds wait, and the end is kept', async () => {
  const { server, transport, send } = open();
  const speech = transport.speak('chat');
  for (let count = 0; count < 300; count++) {
    speech.write(new Int16Array(10));
  }
  speech.end();
  await send();
  await vi.waitFor(() => expect(server.received.length).toBe(202));
  expect(kinds(server).at(-1)).toBe('audio_control stop');
});
