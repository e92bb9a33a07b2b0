/** The server dies in the middle of an answer, and another takes its place. */
import { expect, test } from 'vitest';
import { serve, Visitor } from './visitor.ts';

const server = serve({ pace: 2, store: 'sqlite' });

test('a text goes on where it was', async () => {
  const visitor = await Visitor.come(server());
  const chat = await visitor.listen('text');
  const shown = chat.text;
  await server().crash();
  await visitor.stopAfterMore(chat);

  await visitor.expectServed(chat, 'stopped');
  expect(chat.text.startsWith(shown)).toBe(true);
  await visitor.leave();
});

test('an answer to a question of the dead one is taken by the other', async () => {
  const visitor = await Visitor.come(server());
  const chat = visitor.chat('question');
  await chat.say('Send $20 to Sam');
  await server().crash();
  await chat.answer(true);

  await visitor.expectServed(chat);
  expect((await visitor.api.wallet()).payments).toHaveLength(1);
  await visitor.leave();
});

test('a page behind an approval is asked once', async () => {
  const visitor = await Visitor.come(server());
  const chat = visitor.chat('place');
  await chat.say('Where am I?');
  chat.give(true);
  await server().crash();
  await chat.idle();

  await visitor.expectServed(chat);
  expect(visitor.ran).toHaveBeenCalledTimes(1);
  await visitor.leave();
});
