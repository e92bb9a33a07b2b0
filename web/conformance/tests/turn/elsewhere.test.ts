/** An answer from anywhere, and a page that has not heard of it. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { serve } from './served.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  expectValid,
  outline,
  servedAs,
} from './sound.ts';

const served = serve();

const sam = { amount: 20, recipient: 'Sam' };

test.each(majors)('the turn goes on though no window is open, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  const first = await tab.api.answer(approvalId, { approved: true, reason: 'fine' });
  expect(first).toEqual({
    status: 200,
    body: {
      approvalId,
      approved: true,
      reason: 'fine',
      decidedBy: expect.stringMatching(/\S/),
      decidedAt: expect.any(Number),
    },
  });
  expect(
    await tab.api.answer(approvalId, { approved: true, reason: 'fine' }),
    'the same again',
  ).toEqual(first);
  expect(await tab.api.answer(approvalId, { approved: false })).toMatchObject({
    status: 409,
    body: { error: { code: 'already_decided' }, decision: first.body },
  });

  const chat = await servedAs(tab, 'finished');
  expect(outline(chat.messages)).toEqual([['process_payment: output-available']]);
  expect(textOf(chat.messages.at(-1))).toMatch(/Sam/);
  await expectValid(chat.messages);
  await expectSound(tab, { posts: 1 });
  await expectPaid(tab, [sam]);

  const other = await served.reopen(tab);
  await other.resume();
  await expectSound(other, { posts: 0 });
  await expectServed(other);
});

test.each(majors)('the page says yes to what was denied, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  await tab.api.answer(approvalId, { approved: false, reason: 'the boss says no' });
  const chat = await servedAs(tab, 'finished');
  expect(outline(chat.messages)).toEqual([['process_payment: output-denied']]);
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(tab.call('process_payment').state).toMatch(/^output-(denied|error)$/);
  expectLastWord(tab, /the boss says no/);
  expect((await tab.api.chat(tab.id))?.messages).toEqual(chat.messages);
  await expectPaid(tab, []);
});

test.each(majors)('the page says no to what was approved, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  await tab.api.answer(approvalId, { approved: true });
  const chat = await servedAs(tab, 'finished');
  await tab.deny(tab.call('process_payment'));

  // The page keeps its own no, which no chunk of the shared profile can take back: the client then
  // calls the message invalid, but it shows what happened.
  await expectSound(tab, { posts: 2, tolerated: ['invalid'] });
  expect(tab.call('process_payment').state).toBe('output-available');
  expectLastWord(tab, /Sam/);
  expect((await tab.api.chat(tab.id))?.messages).toEqual(chat.messages);
  await expectPaid(tab, [sam]);
});
