/** An agent that fails: the turn says so, with a code, and can be tried again. */
import { expect, test } from 'vitest';
import { chunksOf } from '../../src/event-stream.ts';
import { majors } from '../../src/sdk.ts';
import { can, flow } from './flow.ts';
import { serve } from './served.ts';
import { expectLastWord, expectServed, expectSound } from './sound.ts';

const served = serve();

flow('named-failure').each(majors)('the chat shows the error, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('fail with rate limit');

  await expectSound(tab, { posts: 1, error: /rate_limit/ });
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('failed');
  expect(chat?.error?.code).toBe('rate_limited');
  if (can('retry-time')) {
    expect(chat?.error?.retryAfterMs).toBeGreaterThan(0);
  }
});

flow('named-failure').each(majors)('the turn can be regenerated, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('fail with rate limit');
  await tab.regenerate();

  // The demo fails once more, in a turn of its own.
  await expectSound(tab, { posts: 2, error: /rate_limit/ });
  const [first, second] = tab.windows.map(({ text }) => chunksOf(text)[0]?.messageId);
  expect(second).not.toBe(first);
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('failed');
  expect(chat?.messages.map(message => message.role)).toEqual(['user']);
});

test.each(majors)('the message can be said differently, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('fail with rate limit');
  await tab.edit(tab.messages[0]?.id ?? '', 'What is the weather in Oslo?');

  await expectSound(tab, { posts: 2, tolerated: ['throws'] });
  expect(tab.messages).toHaveLength(2);
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
});

test.each(majors)('the chat can go on, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('fail with rate limit');
  expect(tab.page.error).toBeDefined();
  await tab.say('What is the weather in Oslo?');

  expect(tab.page.error).toBeUndefined();
  expect(tab.posts).toBe(2);
  expectLastWord(tab, /Oslo/);
  expect((await tab.api.chat(tab.id))?.status).toBe('finished');
});
