/** A connection that is closed never stops a turn. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { serve } from './served.ts';
import { expectPaid, expectSound, expectValid, outline, servedAs } from './sound.ts';

const served = serve({ pace: 15 });

test.each(majors)('in the middle of a text, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('What is the weather in Oslo?');
  await until('a word has come', () => tab.text !== '');
  await tab.leave();
  const shown = tab.text;

  const chat = await servedAs(tab, 'finished');
  const said = textOf(chat.messages.at(-1));
  expect(said.startsWith(shown)).toBe(true);
  expect(said.length).toBeGreaterThan(shown.length);
  await expectValid(chat.messages);
  // The client broke off in the middle of the text.
  await expectSound(tab, { posts: 1, tolerated: ['unfinished'] });
});

test.each(majors)(
  'before the question, which is asked all the same, on version %s',
  async major => {
    const tab = served.open(major);
    tab.begin('Send $20 to Sam');
    await until('the window is open', () => (tab.windows[0]?.text.length ?? 0) > 0);
    await tab.leave();

    const chat = await servedAs(tab, 'parked');
    expect(outline(chat.messages)).toEqual([['process_payment: approval-requested']]);
    const other = await served.reopen(tab);
    await other.approve(other.call('process_payment'));
    await expectSound(other, { posts: 1 });
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
  },
);

test.each(majors)('after the answer, which counts, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  tab.answer(tab.call('process_payment'), true);
  await until('the window is open', () => (tab.windows[1]?.text.length ?? 0) > 0);
  await tab.leave();

  const chat = await servedAs(tab, 'finished');
  expect(outline(chat.messages)).toEqual([['process_payment: output-available']]);
  expect(textOf(chat.messages.at(-1))).toMatch(/\S/);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});
