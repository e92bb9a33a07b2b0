/** Calls over several steps: what one step found out, the next may use. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve, transport } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)('a call that asks follows one that does not, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('first the weather in Tokyo, then pay Ann $5');
  expect(outline(tab.messages)).toEqual([
    ['get_weather: output-available', 'process_payment: approval-requested'],
  ]);
  const steps = tab.messages.at(-1)?.parts.filter(part => part.type === 'step-start');
  // Only questions have steps in the legacy dialect.
  expect(steps?.length).toBeGreaterThanOrEqual(transport === 'legacy' ? 1 : 2);
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([
    ['get_weather: output-available', 'process_payment: output-available'],
  ]);
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 5, recipient: 'Ann' }]);
});

test.each(majors)('a denial ends the sequence, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('first the weather in Tokyo, then pay Ann $5');
  await tab.deny(tab.call('process_payment'), 'not today');

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([
    ['get_weather: output-available', 'process_payment: output-denied'],
  ]);
  expectLastWord(tab, /not today/);
  await expectServed(tab);
  await expectPaid(tab, []);
});
