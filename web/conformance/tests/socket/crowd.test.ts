/** A thousand sockets, ten of which never read: memory stays bounded, and nobody else waits. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ReceivedFrame } from '../../src/server/frame.ts';
import { until } from '../../src/server/until.ts';
import { userMessage } from '../turn/forged.ts';
import { serve } from '../turn/served.ts';

const served = serve({ store: 'memory', pace: 0 });

const readers = 990;

const stalledReaders = 10;

/** More than the network takes for somebody who does not read it: pings that come back as they are. */
const pings = 24;
const bytesOfPing = 1024 * 1024;

/** For a thousand sockets with a turn each, of a server that is not optimised. */
const bytesAllowed = 300 * 1024 * 1024;

/** Of ten times 24 MB: one frame in each direction, and what the allocator keeps of them. */
const bytesAllowedForStalled = 80 * 1024 * 1024;

/** A client that takes nothing for 30 s is cut off; some more for those who count. */
const secondsUntilCut = 45;

function request(requestId: string, chat: string): string {
  const messages = [userMessage(`${chat}-1`, 'take your time')];
  const envelope = { type: 'send', requestId, id: chat, trigger: 'submit-message', messages };
  return JSON.stringify({ ...envelope, headers: {}, body: {} });
}

/** Reads a whole answer, and gives its text. */
function read(socket: WebSocket, chat: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('close', code => reject(new Error(`the socket of ${chat} was closed: ${code}`)));
    socket.on('message', data => {
      const frame = JSON.parse(String(data)) as ReceivedFrame;
      if (frame.type === 'chunk' && frame.chunk.type === 'text-delta') {
        text += String(frame.chunk.delta);
      } else if (frame.type === 'error') {
        reject(new Error(frame.errorText));
      } else if (frame.type === 'end') {
        resolve(text);
      }
    });
    socket.send(request(`request-of-${chat}`, chat));
  });
}

function status(pid: number, field: string): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${field}:\\s+(\\d+)`));
  return Number(line?.[1]) * 1024;
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

test('are served by one process', { timeout: 90_000 }, async () => {
  const { pid, url } = served.server;
  const api = served.meet();
  const before = descriptors(pid);
  const sockets: WebSocket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) {
      socket.terminate();
    }
  });
  const open = async () => {
    // Good for one socket.
    const ticket = await api.ticket();
    const socket = new WebSocket(
      `${url.replace(/^http/, 'ws')}/api/chat/live?ticket=${encodeURIComponent(ticket)}`,
    );
    sockets.push(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return socket;
  };
  for (let opened = 0; opened < readers + stalledReaders; opened += 100) {
    await Promise.all(Array.from({ length: 100 }, open));
  }
  const idle = status(pid, 'VmRSS');

  const started = performance.now();
  for (const [index, socket] of sockets.slice(0, stalledReaders).entries()) {
    socket.pause();
    for (let count = 0; count < pings; count++) {
      socket.send(JSON.stringify({ type: 'ping', timestamp: 'x'.repeat(bytesOfPing) }));
    }
    socket.send(request('request-of-stalled', `stalled-${index}`));
  }
  const stalled = await until('the stalled ones have stalled', async () => {
    const before = status(pid, 'VmRSS');
    await pause(500);
    const now = status(pid, 'VmRSS');
    return Math.abs(now - before) < 1024 * 1024 && now;
  });
  const begun = performance.now();
  const texts = await Promise.all(
    sockets.slice(stalledReaders).map((socket, index) => read(socket, `chat-${index}`)),
  );
  const milliseconds = Math.round(performance.now() - begun);
  expect(texts).toHaveLength(readers);
  for (const text of texts) {
    expect(text).toMatch(/word-200/);
  }
  expect(descriptors(pid), 'nobody is cut off yet').toBeGreaterThanOrEqual(1000);

  // The readers leave; the stalled ones would stay for ever.
  for (const socket of sockets.slice(stalledReaders)) {
    socket.terminate();
  }
  const deadline = started + secondsUntilCut * 1000;
  while (descriptors(pid) > before && performance.now() < deadline) {
    await pause(100);
  }
  const peak = status(pid, 'VmHWM');
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  process.stdout.write(
    `1000 sockets: ${megabytes(idle)} MB idle, ${megabytes(stalled)} MB with the stalled ones, ` +
      `${megabytes(peak)} MB at most; ${readers} texts in ${milliseconds} ms; ` +
      `the stalled ones were cut off after ${Math.round((performance.now() - started) / 1000)} s\n`,
  );
  expect(descriptors(pid), 'the stalled ones are cut off').toBeLessThanOrEqual(before);
  expect(stalled - idle).toBeLessThan(bytesAllowedForStalled);
  expect(peak).toBeLessThan(bytesAllowed);
});
