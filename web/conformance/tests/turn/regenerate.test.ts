/** The agent answers once more; what it said before is cut off. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { until } from '../../src/server/until.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve({ pace: 1 });

test.each(majors)('an answer is regenerated, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');
  const first = tab.messages[1];
  await tab.regenerate();

  await expectSound(tab, { posts: 2 });
  expect(tab.messages.map(message => message.role)).toEqual(['user', 'assistant']);
  expect(tab.messages[1]?.id).not.toBe(first?.id);
  expect(outline(tab.messages)).toEqual([['get_weather: output-available']]);
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
});

test.each(majors)('only the last answer is regenerated, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');
  await tab.say('What is the weather in Tokyo?');
  const [, first] = tab.messages;
  await tab.regenerate();

  await expectSound(tab, { posts: 3 });
  expect(tab.messages).toHaveLength(4);
  expect(tab.messages[1]).toEqual(first);
  expectLastWord(tab, /Tokyo/);
  await expectServed(tab);
});

test.each(majors)('an earlier answer is regenerated, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  await tab.regenerate(tab.messages[1]?.id);

  await expectSound(tab, { posts: 4 });
  expect(outline(tab.messages)).toEqual([['get_weather: output-available']]);
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)('an open question is taken back and asked again, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const old = tab.call('process_payment').approval?.id ?? '';
  await tab.regenerate();
  expect(outline(tab.messages)).toEqual([['process_payment: approval-requested']]);
  expect(tab.call('process_payment').approval?.id).not.toBe(old);
  expect(await tab.api.approvals()).toHaveLength(1);
  expect((await tab.api.answer(old, { approved: true })).status).toBeGreaterThanOrEqual(400);
  await expectPaid(tab, []);
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 3 });
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)('a text that is being said is broken off, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('take your time');
  await until('some words have come', () => tab.text.split(' ').length > 3);
  await tab.leave();
  const first = tab.messages[1]?.id;
  tab.page.regenerate();
  await until(
    'it is said again',
    () => tab.messages[1] !== undefined && tab.messages[1].id !== first,
  );
  await tab.api.stop(tab.id);

  // What broke off with the connection was left unfinished.
  await expectSound(tab, { posts: 2, tolerated: ['unfinished'] });
  await expectServed(tab, 'stopped');
});
