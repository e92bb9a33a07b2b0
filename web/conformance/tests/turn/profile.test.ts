/** A client that asks for it is sent what only version 7 understands. */
import { expect, test } from 'vitest';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  outline,
  servedAs,
} from './sound.ts';

const served = serve();

test('a payment is approved', async () => {
  const tab = served.open('7', { profile: 'v7' });
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test('a client tool is approved', async () => {
  const tab = served.open('7', { profile: 'v7', tools: pageTools });
  await tab.say('Where am I?');
  await tab.approve(tab.call('get_location'));

  await expectSound(tab, { posts: 3 });
  expect(tab.ran).toHaveLength(1);
  await expectServed(tab);
});

test('a question that was settled elsewhere is shown as it was settled', async () => {
  const tab = served.open('7', { profile: 'v7' });
  await tab.say('Pay Ann $1 and Ben $2');
  const [ann] = tab.calls('process_payment');
  await tab.api.answer(ann?.approval?.id ?? '', { approved: false, reason: 'not her' });
  const other = await served.reopen(tab);
  await other.resume();
  expect(outline(other.messages)).toEqual([
    ['process_payment: output-denied', 'process_payment: approval-requested'],
  ]);
  await other.approve(other.calls('process_payment')[1] ?? other.call('no second payment'));

  await expectSound(other, { posts: 1 });
  await expectServed(other);
  await expectPaid(tab, [{ amount: 2, recipient: 'Ben' }]);
});

test('a no to what was approved elsewhere is corrected', async () => {
  const tab = served.open('7', { profile: 'v7' });
  await tab.say('Send $20 to Sam');
  await tab.api.answer(tab.call('process_payment').approval?.id ?? '', { approved: true });
  await servedAs(tab, 'finished');
  await tab.deny(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(tab.call('process_payment').state).toBe('output-available');
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});
