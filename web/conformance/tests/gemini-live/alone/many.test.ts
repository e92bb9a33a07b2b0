/** Chats come and go: what was open for them upstream goes with them, and so does their memory. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Api } from '../../../src/server/api.ts';
import { until } from '../../../src/server/until.ts';
import { serveFaulty } from '../../gemini/pages.ts';
import { userMessage } from '../../turn/forged.ts';

const served = serveFaulty({
  agent: 'gemini-live',
  store: 'sqlite',
  flags: ['--linger', '1'],
});

const chats = 500;

const atOnce = 25;

/** What the allocator keeps, and does not always keep at once. */
const bytesAllowed = 24 * 1024 * 1024;

/** The connections to the database, which are opened as they are needed. */
const filesAllowed = 64;

function memory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/**
 * A page says something on a socket of its own, and is gone before the answer is there. Every other
 * chat waits at a gate then.
 */
async function drop(api: Api, id: string, text: string) {
  const socket = await api.socket();
  const messages = [userMessage(`${id}-1`, text)];
  const envelope = { type: 'send', requestId: id, id, trigger: 'submit-message', messages };
  const begun = new Promise(resolve => socket.once('message', resolve));
  socket.send(JSON.stringify({ ...envelope, headers: {}, body: {} }));
  await begun;
  socket.terminate();
}

test('five hundred chats leave no socket, and five hundred more no memory', {
  timeout: 90_000,
}, async () => {
  const { pid } = served.server;
  const api = served.meet();
  const before = descriptors(pid);
  const after: number[] = [];
  for (const round of [1, 2]) {
    for (let begun = 0; begun < chats; begun += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, (_, n) =>
          drop(
            api,
            `chat-${round}-${begun + n}`,
            n % 2 === 0 ? 'Good morning to you' : 'Send $20 to Sam',
          ),
        ),
      );
    }
    const { socketsTotal } = await served.emulator.closed();
    expect(socketsTotal).toBe(chats * round);
    await until('the sockets are given back', () => descriptors(pid) <= before + filesAllowed);
    after.push(memory(pid));
  }
  const [first = 0, second = 0] = after;
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  process.stdout.write(`500 live chats: ${megabytes(first)} MB, 1000: ${megabytes(second)} MB\n`);
  expect(second - first).toBeLessThan(bytesAllowed);
});
