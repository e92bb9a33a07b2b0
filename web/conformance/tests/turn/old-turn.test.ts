/**
 * A turn that another tab has cut off while it waited: a tab that still answers it gets what became of it,
 * in its own message.
 */
import { expect, test } from 'vitest';
import { chunksOf } from '../../src/event-stream.ts';
import { majors } from '../../src/sdk.ts';
import type { Tab } from '../../src/server/tab.ts';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import { expectPaid, expectSound, outline } from './sound.ts';

const served = serve();

const cuts: [string, (tab: Tab) => Promise<void>][] = [
  ['regenerates', tab => tab.regenerate()],
  ['edits', tab => tab.edit(tab.messages[0]?.id ?? '', 'Send $2 to Sam')],
];

/** The last window of a tab was on the message that it has. */
function expectOwnMessage(tab: Tab, messageId: string | undefined) {
  expect(tab.messages.map(message => message.role)).toEqual(['user', 'assistant']);
  expect(tab.messages[1]?.id).toBe(messageId);
  const [start] = chunksOf(tab.windows.at(-1)?.text ?? '');
  expect(start).toMatchObject({ type: 'start', messageId });
}

for (const [what, cut] of cuts) {
  test.each(majors)(
    `another tab ${what}, and the old gate is answered, on version %s`,
    async major => {
      const tab = served.open(major);
      await tab.say('Send $20 to Sam');
      const old = tab.messages[1]?.id;
      const other = await served.reopen(tab);
      await cut(other);
      expect(other.messages[1]?.id).not.toBe(old);
      await tab.approve(tab.call('process_payment'));

      await expectSound(tab, { posts: 2 });
      expectOwnMessage(tab, old);
      expect(outline(tab.messages)[0]?.[0]).toMatch(/^process_payment: output-(denied|error)$/);
      // The new question is open still, and nothing was paid.
      expect(outline(other.messages)).toEqual([['process_payment: approval-requested']]);
      expect(await tab.api.approvals()).toHaveLength(1);
      await expectPaid(tab, []);
    },
  );
}

test.each(majors)('another tab edits, and an output comes late, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('play track 1');
  const old = tab.messages[1]?.id;
  const call = tab.call('change_bgm');
  const other = await served.reopen(tab, { tools: pageTools });
  await other.edit(other.messages[0]?.id ?? '', 'What is the weather in Oslo?');
  tab.give(call.toolCallId, { output: { success: true } });
  await tab.quiet();

  // The page shows its own output until it gets the outcome of the call, which was given up before.
  await expectSound(tab, { posts: 2, tolerated: ['state-back'] });
  expectOwnMessage(tab, old);
  expect(outline(tab.messages)).toEqual([['change_bgm: output-error']]);
  expect(outline(other.messages)).toEqual([['get_weather: output-available']]);
});
