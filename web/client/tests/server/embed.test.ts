/** The routes inside of another application, under a path and with its sessions: examples/embed-axum. */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { DefaultChatTransport } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  end,
  launchProgram,
  listening,
  type Running,
} from '../../../conformance/src/server/process.ts';
import { sendAutomaticallyWhen } from '../../src/send-automatically.ts';
import { MemoryChat } from '../support/memory-chat.ts';

const binary = fileURLToPath(new URL('../../../../target/debug/embed-axum', import.meta.url));

let shop: Running | undefined;
let url: string;

beforeAll(async () => {
  shop = await launchProgram({
    command: binary,
    args: ['127.0.0.1:0'],
    cwd: tmpdir(),
    variables: {},
    listening,
  });
  url = shop.url;
});

afterAll(() => end(shop, 'SIGTERM'));

async function signIn(name: string): Promise<{ cookie: string }> {
  const response = await fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ name }),
  });
  expect(response.status).toBe(200);
  return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

function open(id: string, headers: Record<string, string>): MemoryChat {
  const transport = new DefaultChatTransport({ api: `${url}/ai/api/chat`, headers });
  return new MemoryChat({ id, transport, sendAutomaticallyWhen });
}

test('a small refund needs nobody, a larger one an approval of the user who is signed in', async () => {
  const ann = await signIn('ann');
  const small = open('small', ann);
  await small.say('refund 5 for order 7');
  expect(small.calls).toMatchObject([
    { state: 'output-available', output: { order: 7, refunded: 5, by: 'ann' } },
  ]);

  const large = open('large', ann);
  await large.say('refund 25 for order 8');
  expect(large.calls).toMatchObject([{ state: 'approval-requested' }]);
  const waiting = async (headers: Record<string, string>) =>
    (await (await fetch(`${url}/ai/api/approvals`, { headers })).json()).approvals;
  expect(await waiting(ann)).toMatchObject([{ question: 'Refund 25 USD for order 8?' }]);
  expect(await waiting(await signIn('ben'))).toEqual([]);
  await large.answer(true);
  expect(large.calls).toMatchObject([{ state: 'output-available', output: { refunded: 25 } }]);
});

test('an input that does not fit the tool goes back to the agent, and nobody is asked', async () => {
  const chat = open('odd', await signIn('ann'));
  await chat.say('refund much for order 7');
  expect(chat.calls).toMatchObject([{ state: 'output-error' }]);
});

test('nobody is served who is not signed in', async () => {
  const headers = { cookie: 'session=guessed' };
  for (const response of [
    await fetch(`${url}/ai/api/approvals`, { headers }),
    await fetch(`${url}/ai/api/chat/small`, { headers }),
    await fetch(`${url}/ai/api/approvals`),
  ]) {
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
  }
  expect(
    (await fetch(`${url}/sign-in`, { method: 'POST', body: new URLSearchParams({ name: 'eve' }) }))
      .status,
  ).toBe(401);
  expect(await (await fetch(url)).text()).toBe('The shop.');
});
