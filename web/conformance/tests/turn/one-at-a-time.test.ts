/** The demo's second personality calls one tool at a time, as a Live model does. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve({ agent: 'demo-live' });

test.each(majors)(
  'the second question comes after the first answer, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Pay Ann $1 and Ben $2');
    expect(outline(tab.messages)).toEqual([['process_payment: approval-requested']]);
    await tab.approve(tab.call('process_payment'));
    expect(outline(tab.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: approval-requested'],
    ]);
    await tab.deny(tab.calls('process_payment')[1] ?? tab.call('no second payment'));

    await expectSound(tab, { posts: 3 });
    expect(outline(tab.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: output-denied'],
    ]);
    expectLastWord(tab);
    await expectServed(tab);
    await expectPaid(tab, [{ amount: 1, recipient: 'Ann' }]);
  },
);

test.each(majors)('a tool that asks nobody runs at once, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([['get_weather: output-available']]);
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
});
