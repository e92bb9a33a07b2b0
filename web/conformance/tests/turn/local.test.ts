/** No key, no option: a page with a bare `useChat()` on a server that was just started. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectServed, expectSound, outline } from './sound.ts';

const served = serve({ isOpen: true, store: 'memory' });

test.each(majors)('the weather, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');

  await expectSound(tab, { posts: 1 });
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
});

test.each(majors)('a payment, from one wallet for all, on version %s', async major => {
  const tab = served.open(major);
  const { balance } = await tab.api.wallet();
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  await expectServed(tab);
  expect((await tab.api.wallet()).balance).toBe(balance - 20);
});
