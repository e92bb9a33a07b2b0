/** A page without a network. */
import { expect, test } from 'vitest';
import { until } from '../../../conformance/src/server/until.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve({ pace: 2 });

test('an answer that is given offline is sent when the network is back', async () => {
  const visitor = await Visitor.come(server());
  const chat = visitor.chat('offline');
  await chat.say('Send $20 to Sam');
  visitor.network.isDown = true;
  visitor.network.cut();
  await until('the light goes out', () => visitor.transport.connection.get() === 'closed');
  chat.give(true);
  await until('it is tried', () => visitor.network.connections > 3);
  expect(chat.status).toBe('submitted');
  expect(visitor.transport.connection.get()).toBe('connecting');
  visitor.network.isDown = false;
  await chat.idle();

  await visitor.expectServed(chat);
  expect((await visitor.api.wallet()).payments).toHaveLength(1);
  expect(visitor.transport.connection.get()).toBe('open');
  await visitor.leave();
});

test('a network that never comes back is given up, and can be tried again', async () => {
  const visitor = await Visitor.come(server(), {
    reconnect: { attempts: 3, minDelayMs: 1, maxDelayMs: 2 },
  });
  const chat = visitor.chat('down');
  visitor.network.isDown = true;
  await chat.say('hello');
  expect(chat.error?.message).toMatch(/fetch failed/);
  expect(visitor.network.connections).toBe(4);
  expect(visitor.transport.connection.get()).toBe('closed');
  visitor.network.isDown = false;
  void chat.sendMessage();
  await chat.idle();

  await visitor.expectServed(chat);
  await visitor.leave();
});

test('two chats go on after one cut', async () => {
  const visitor = await Visitor.come(server());
  const chats = [await visitor.listen('first'), await visitor.listen('second')];
  visitor.network.cut();
  await visitor.stopAfterMore(...chats);

  for (const chat of chats) {
    await visitor.expectServed(chat, 'stopped');
  }
  expect(visitor.frames.sockets).toBe(2);
  await visitor.leave();
});

test('somebody else goes on with the chat meanwhile', async () => {
  const visitor = await Visitor.come(server());
  const chat = await visitor.listen('taken-over');
  visitor.network.isDown = true;
  visitor.network.cut();
  const response = await visitor.api.post({
    id: chat.id,
    trigger: 'submit-message',
    messages: [{ id: 'other', role: 'user', parts: [{ type: 'text', text: 'Send $5 to Ann' }] }],
  });
  await response.text();
  visitor.network.isDown = false;
  await chat.idle();

  // The page shows how its own turn ended, and nothing of the other.
  expect(chat.error).toBeUndefined();
  const served = await visitor.api.chat(chat.id);
  expect(chat.shown.map(({ id }) => id)).toEqual(served?.messages.slice(0, 2).map(({ id }) => id));
  expect(served?.messages).toHaveLength(4);
  await visitor.leave();
});
