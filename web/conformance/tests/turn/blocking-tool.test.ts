/** A server tool that asks twice in the middle of its work, and continues where it was. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
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

const flight = { amount: 120 };

test.each(majors)('yes and yes: it is done, and done once, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  expect(outline(tab.messages)).toEqual([['book_flight: approval-requested']]);
  expect(tab.call('book_flight').input).toMatchObject({ destination: 'Oslo' });
  const first = tab.call('book_flight').approval?.id;
  await tab.approve(tab.call('book_flight'));
  expect(outline(tab.messages)).toEqual([['book_flight: approval-requested']]);
  expect(tab.call('book_flight').approval?.id).not.toBe(first);
  await expectServed(tab, 'parked');
  await expectPaid(tab, []);
  await tab.approve(tab.call('book_flight'));

  await expectSound(tab, { posts: 3 });
  expect(outline(tab.messages)).toEqual([['book_flight: output-available']]);
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
  const { payments, balance } = await tab.api.wallet();
  expect(payments).toMatchObject([flight]);
  expect(balance).toBe(880);
});

test.each(majors)('yes and no: it stops half way, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  await tab.approve(tab.call('book_flight'));
  await tab.deny(tab.call('book_flight'), 'it leaves too early');

  await expectSound(tab, { posts: 3 });
  expect(outline(tab.messages)).toEqual([['book_flight: output-denied']]);
  expectLastWord(tab, /it leaves too early/);
  await expectServed(tab);
  await expectPaid(tab, []);
});

test.each(majors)('no: it stops at once, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  await tab.deny(tab.call('book_flight'), 'I stay at home');

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['book_flight: output-denied']]);
  expectLastWord(tab, /I stay at home/);
  await expectServed(tab);
  await expectPaid(tab, []);
});

test.each(majors)('the first question is answered elsewhere, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  const first = tab.call('book_flight');
  await tab.api.answer(first.approval?.id ?? '', { approved: true });
  await until('the second question is asked', async () => {
    const [question] = await tab.api.approvals();
    return question !== undefined && question.approvalId !== first.approval?.id;
  });
  // The page still shows the first question; its answer is the same, and the second follows.
  await tab.approve(first);
  expect(outline(tab.messages)).toEqual([['book_flight: approval-requested']]);
  await tab.approve(tab.call('book_flight'));

  await expectSound(tab, { posts: 3 });
  expect(outline(tab.messages)).toEqual([['book_flight: output-available']]);
  await expectServed(tab);
  expect((await tab.api.wallet()).balance).toBe(880);
});

test.each(majors)('both questions are answered elsewhere, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  for (const round of ['first', 'second']) {
    const question = await until(`the ${round} question is asked`, async () => {
      const [question] = await tab.api.approvals();
      return question;
    });
    await tab.api.answer(question.approvalId, { approved: true });
  }
  const chat = await servedAs(tab, 'finished');
  // The page has never seen the second question.
  await tab.approve(tab.call('book_flight'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['book_flight: output-available']]);
  expect(tab.text).toBe(textOf(chat.messages.at(-1)));
  expect((await tab.api.wallet()).balance).toBe(880);
});

test.each(majors)('the second question is denied elsewhere, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  for (const approved of [true, false]) {
    const question = await until('a question is asked', async () => {
      const [question] = await tab.api.approvals();
      return question;
    });
    await tab.api.answer(question.approvalId, { approved });
  }
  const chat = await servedAs(tab, 'finished');
  await tab.approve(tab.call('book_flight'));

  await expectSound(tab, { posts: 2 });
  expect(tab.call('book_flight').state).toMatch(/^output-(denied|error)$/);
  expect(tab.text).toBe(textOf(chat.messages.at(-1)));
  await expectPaid(tab, []);
});
