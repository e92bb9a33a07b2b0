/** A server tool that asks twice in the middle of its work, and goes on where it stood. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

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
