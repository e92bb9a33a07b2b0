/** An earlier message is said differently: the history is cut there. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)('what came after the message is gone, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  expect(tab.messages).toHaveLength(4);
  const [question] = tab.messages;
  await tab.edit(question?.id ?? '', 'What is the weather in Tokyo?');

  await expectSound(tab, { posts: 4 });
  expect(tab.messages).toHaveLength(2);
  expect(tab.messages[0]?.id).toBe(question?.id);
  expect(outline(tab.messages)).toEqual([['get_weather: output-available']]);
  expectLastWord(tab, /Tokyo/);
  await expectServed(tab);
  // What was paid is paid, whatever is said about it afterwards.
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)('the chat goes on from the edited message, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');
  await tab.edit(tab.messages[0]?.id ?? '', 'Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  await tab.say('What is the weather in Tokyo?');

  await expectSound(tab, { posts: 4 });
  expect(outline(tab.messages)).toEqual([
    ['process_payment: output-available'],
    ['get_weather: output-available'],
  ]);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)('an open question goes with the history, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const old = tab.call('process_payment').approval?.id ?? '';
  await tab.edit(tab.messages[0]?.id ?? '', 'Send $2 to Sam');
  expect(await tab.api.approvals()).toMatchObject([{ input: { amount: 2 } }]);
  expect((await tab.api.answer(old, { approved: true })).status).toBeGreaterThanOrEqual(400);
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 3 });
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 2, recipient: 'Sam' }]);
});
