/** The agent answers once more; what it said before is cut off. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)('an answer is given anew, on version %s', async major => {
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

test.each(majors)('only the last answer is given anew, on version %s', async major => {
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

test.each(majors)('an open question is taken back and asked anew, on version %s', async major => {
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
