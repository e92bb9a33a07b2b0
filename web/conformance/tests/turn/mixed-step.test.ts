/**
 * Calls of different kinds in one step: each settles in its own time, the agent waits for all. An
 * agent that makes one call at a time makes the second when the first is settled.
 */
import { describe, expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { flows } from './flow.ts';
import { pageTools } from './page-tools.ts';
import { asksTogether, runsBeside, sendsBeside, serve, transport } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

const ann = { amount: 5, recipient: 'Ann' };

const cases = [true, false].flatMap(pay =>
  [true, false].map(locate => ({
    pay,
    locate,
    said: `${pay ? 'approved' : 'denied'}, ${locate ? 'approved' : 'denied'}`,
  })),
);

describe.each(cases)('a payment beside a client tool that asks: $said', ({ pay, locate }) => {
  test.each(majors)('on version %s', async major => {
    const tab = served.open(major, { tools: pageTools });
    await tab.say('Pay Ann $5 and tell me where I am');
    expect(outline(tab.messages)).toEqual([
      [
        'process_payment: approval-requested',
        ...(asksTogether ? ['get_location: approval-requested'] : []),
      ],
    ]);
    expect(tab.ran).toEqual([]);
    tab.answer(tab.call('process_payment'), pay);
    if (!asksTogether) {
      await tab.quiet();
    }
    tab.answer(tab.call('get_location'), locate);

    await expectSound(tab, { posts: (locate ? 3 : 2) + (asksTogether ? 0 : 1) });
    expect(outline(tab.messages)).toEqual([
      [
        `process_payment: output-${pay ? 'available' : 'denied'}`,
        `get_location: output-${locate ? 'available' : 'denied'}`,
      ],
    ]);
    expect(tab.ran).toHaveLength(locate ? 1 : 0);
    expectLastWord(tab);
    await expectServed(tab);
    await expectPaid(tab, pay ? [ann] : []);
  });
});

flows('page-tool-after-question').each([true, false])(
  'a payment beside a client tool that asks nobody: %s',
  pay => {
    test.each(majors)('on version %s', async major => {
      const tab = served.open(major, { tools: pageTools });
      await tab.say('Pay Ann $5 and play track 2');
      // The page need not wait for the person, but where the agent does.
      expect(tab.ran).toHaveLength(runsBeside ? 1 : 0);
      expect(outline(tab.messages)).toEqual([
        [
          'process_payment: approval-requested',
          ...(runsBeside ? ['change_bgm: output-available'] : []),
        ],
      ]);
      expect(tab.posts).toBe(sendsBeside ? 2 : 1);
      await (pay
        ? tab.approve(tab.call('process_payment'))
        : tab.deny(tab.call('process_payment'), 'too much'));

      await expectSound(tab, { posts: runsBeside && !sendsBeside ? 2 : 3 });
      // Where the page was asked first, a proxy call carried the question, and the denial is there.
      const no = sendsBeside ? /: output-(denied|error)$/ : /: output-denied$/;
      const paid = expect.stringMatching(pay ? /: output-available$/ : no);
      expect(outline(tab.messages)).toEqual([[paid, 'change_bgm: output-available']]);
      expect(tab.ran).toMatchObject([{ toolName: 'change_bgm', input: { track: 2 } }]);
      expectLastWord(tab, pay ? /\S/ : /too much/);
      await expectServed(tab);
      await expectPaid(tab, pay ? [ann] : []);
    });
  },
);

flows('page-tool-beside-question')(
  'a payment that is denied elsewhere while the page runs its tool',
  () => {
    test.each(majors)('on version %s', async major => {
      const tab = served.open(major);
      await tab.say('Pay Ann $5 and play track 2');
      const payment = tab.call('process_payment');
      await tab.api.answer(payment.approval?.id ?? '', { approved: false, reason: 'too much' });
      tab.give(tab.call('change_bgm').toolCallId, { output: { success: true, track: 2 } });
      // As long as the page shows a question, its client keeps the output to itself; a plain one
      // has none that could.
      await expectSound(tab, { posts: 1 });
      expect((await tab.api.chat(tab.id))?.status).toBe(
        transport === 'legacy' ? 'finished' : 'parked',
      );
      await tab.deny(payment, 'too much');

      await expectSound(tab, { posts: 2 });
      expect(outline(tab.messages)).toEqual([
        [
          // Denied elsewhere, it is an error to a page of the legacy dialect.
          `process_payment: output-${transport === 'legacy' ? 'error' : 'denied'}`,
          'change_bgm: output-available',
        ],
      ]);
      expectLastWord(tab, /too much/);
      await expectServed(tab);
      await expectPaid(tab, []);
    });
  },
);
