/** An answer from elsewhere, and a page that does not know of it. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { flow } from './flow.ts';
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

flow('parallel-questions', 'partial-answers').each(majors)(
  'two tabs answer a question each, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Pay Ann $1 and Ben $2');
    const other = await served.reopen(tab);
    const [ann] = tab.calls('process_payment');
    const [, ben] = other.calls('process_payment');
    // Each client waits for the other's answer, unless the page sends what it has.
    tab.answer(ann ?? tab.call('no payment'), true);
    await tab.sendAnswers();
    expect(outline(tab.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: approval-requested'],
    ]);
    other.answer(ben ?? other.call('no payment'), true);
    await other.sendAnswers();

    await expectSound(tab, { posts: 2 });
    // Nobody answered Ann's question in this tab. No chunk of the shared profile says that somebody
    // did elsewhere, and an output beside an unanswered question is invalid to the client's check.
    await expectSound(other, { posts: 1, tolerated: ['invalid'] });
    expect(outline(other.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: output-available'],
    ]);
    expectLastWord(other);
    await expectPaid(tab, [
      { amount: 1, recipient: 'Ann' },
      { amount: 2, recipient: 'Ben' },
    ]);

    await tab.approve(tab.calls('process_payment')[1] ?? tab.call('no second payment'));
    await expectSound(tab, { posts: 3 });
    await expectServed(tab);
  },
);
