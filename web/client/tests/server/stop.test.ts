/** Who stops what: the chat, the turn, or only the window. */
import { afterEach, expect, test } from 'vitest';
import { until } from '../../../conformance/src/server/until.ts';
import type { MemoryChat } from '../support/memory-chat.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve({ pace: 2 });
let visitor: Visitor;

afterEach(async () => {
  await visitor.leave();
});

const status = async (chat: MemoryChat) => (await visitor.api.chat(chat.id))?.status;

function stopped(chat: MemoryChat): Promise<unknown> {
  return until('the turn is stopped', async () => (await status(chat)) === 'stopped');
}

test('a chat that is stopped stops its turn', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  const chat = await visitor.listen('stop');
  await chat.stop();

  await stopped(chat);
  expect(chat.status).toBe('ready');
  expect(visitor.sent('abort')).toBe(1);
});

test('a turn is stopped whose window has not opened yet', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  const chat = visitor.chat('stop-early');
  void chat.sendMessage({ text: 'take your time' });
  await until('it is sent', () => visitor.sent('send') === 1);
  await chat.stop();

  await stopped(chat);
});

test('what was never sent need not be stopped', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  visitor.network.isDown = true;
  const chat = visitor.chat('never');
  void chat.sendMessage({ text: 'take your time' });
  await until('it is tried', () => visitor.network.connections > 1);
  await chat.stop();
  visitor.network.isDown = false;
  await visitor.chat('other').say('hello');

  expect(chat.status).toBe('ready');
  expect(visitor.sent('send')).toBe(1);
  expect(await status(chat)).toBeUndefined();
});

test('a chat that is stopped offline stops its turn', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  const chat = await visitor.listen('stop-offline');
  visitor.network.isDown = true;
  visitor.network.cut();
  await chat.stop();
  expect(await status(chat)).toBe('running');
  visitor.network.isDown = false;

  await stopped(chat);
});

test('a resumed stream that is stopped stops its turn', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  const chat = await visitor.listen('stop-resumed');
  const page = visitor.chat('stop-resumed', chat.shown);
  void page.resumeStream();
  await until('it is resumed', () => page.isBusy && visitor.sent('resume') === 1);
  await until('some words have come', () => page.text.split(' ').length > 3);
  await page.stop();

  await stopped(chat);
  await chat.idle();
});

test('a page that leaves, as version 7 does it, leaves the turn alone', async () => {
  visitor = await Visitor.come(server());
  const chat = await visitor.listen('leave');
  await chat.stop();
  expect(visitor.sent('abort')).toBe(1);
  expect(await status(chat)).toBe('running');

  // Its button says so by itself; what it shows is what the server says of it.
  void chat.resumeStream();
  await until('it goes on', () => chat.isBusy && chat.text.length > 50);
  expect(await visitor.transport.stop(chat.id)).toBe(true);
  await chat.idle();
  await visitor.expectServed(chat, 'stopped');
  expect(await visitor.transport.stop(chat.id)).toBe(false);
  expect(await visitor.transport.stop('nowhere')).toBe(false);
});

test('what is said after a stop is not stopped', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  const chat = await visitor.listen('stop-and-say');
  await chat.stop();
  await chat.say('What is the weather in Oslo?');

  expect(chat.error).toBeUndefined();
  expect(chat.text).toMatch(/Oslo/);
  expect(await status(chat)).toBe('finished');
});

test('what is said after a stop that came too early is not stopped', async () => {
  visitor = await Visitor.come(server(), { stopOnAbort: true });
  const chat = visitor.chat('stop-early-and-say');
  void chat.sendMessage({ text: 'take your time' });
  await until('it is sent', () => visitor.sent('send') === 1);
  await chat.stop();
  await chat.say('What is the weather in Oslo?');

  expect(chat.error).toBeUndefined();
  expect(chat.text).toMatch(/Oslo/);
  expect(await status(chat)).toBe('finished');
});
