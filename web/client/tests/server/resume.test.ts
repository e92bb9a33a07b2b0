/** A page that comes back to a chat. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../conformance/src/server/until.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve({ pace: 2 });
let visitor: Visitor;

beforeEach(async () => {
  visitor = await Visitor.come(server());
});

afterEach(async () => {
  await visitor.leave();
});

test('sees the rest of a text', async () => {
  const chat = await visitor.listen('rest');
  const page = visitor.chat('rest', chat.shown);
  void page.resumeStream();
  await visitor.stopAfterMore(page, chat);

  await visitor.expectServed(page, 'stopped');
  expect(page.shown).toEqual(chat.shown);
});

test('sees the rest of a text, though the network is cut while it does', async () => {
  const chat = await visitor.listen('rest-cut');
  const page = visitor.chat('rest-cut', chat.shown);
  void page.resumeStream();
  await until('it is resumed', () => page.isBusy);
  visitor.network.cut();
  await visitor.stopAfterMore(page, chat);

  await visitor.expectServed(page, 'stopped');
  await visitor.expectServed(chat, 'stopped');
  expect(visitor.frames.sockets).toBe(2);
});

test('sees an open question, and answers it', async () => {
  const chat = visitor.chat('question');
  await chat.say('Send $20 to Sam');
  const page = visitor.chat('question', chat.shown);
  await page.resumeStream();
  await page.idle();
  expect(page.outline).toEqual(['process_payment: approval-requested']);
  await page.answer(true);

  await visitor.expectServed(page);
});

test('has nothing to resume where nothing runs', async () => {
  const chat = visitor.chat('over');
  await chat.resumeStream();
  await chat.idle();
  expect(chat.status).toBe('ready');
  expect(chat.messages).toEqual([]);
});
