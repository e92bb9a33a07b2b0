/**
 * Calls of all kinds in one step. A page is shown what it is to run when nobody is asked any more
 * about what ADK runs; the model gets everything at once, and what an app that is not resumable
 * has it say before that is for nobody.
 */
import { describe, expect, test } from 'vitest';
import { pages, serveFaulty, twoPages } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound, outline } from '../turn/sound.ts';
import { apps, asked, call, newCall, notes, says } from './probe.ts';

const play = { play: () => ({ output: { playing: 2 } }) };

describe.each(apps)('%s', app => {
  const served = serveFaulty({ adkApp: app });

  test.each(pages)(
    'one that works, one that asks and one for the page, on version $major over $transport',
    async page => {
      const [look, pay, music] = [newCall(), newCall(), newCall()];
      await served.emulator.follow([
        says(
          call('look', look, { at: 'the sea' }),
          call('play', music, { track: 2 }),
          call('pay', pay, { to: 'Ann' }),
        ),
        ...(app === 'plain' ? [says('Too early.')] : []),
        says('All is done.'),
      ]);
      const tab = served.visit(page, { tools: play });
      await tab.say('Everything');
      expect(outline(tab.messages)).toEqual([
        ['look: output-available', 'pay: approval-requested'],
      ]);
      expect(tab.ran).toEqual([]);
      await expectServed(tab, 'parked');
      await tab.approve(tab.call('pay'));

      await expectSound(tab, { posts: 3 });
      expect(outline(tab.messages)).toEqual([
        ['look: output-available', 'pay: output-available', 'play: output-available'],
      ]);
      expect(tab.ran).toMatchObject([{ toolName: 'play', input: { track: 2 } }]);
      expect(tab.text).toBe('All is done.');
      await expectServed(tab);
      expect(notes(pay)).toHaveLength(1);
      expect((await asked(served.emulator)).at(-1)?.slice(-3).sort()).toEqual(
        [
          `response ${look} {"seen":"the sea"}`,
          `response ${pay} {"paid":"Ann"}`,
          `response ${music} {"playing":2}`,
        ].sort(),
      );
    },
  );

  test.each(pages)('the one that asks is denied, on version $major over $transport', async page => {
    const [pay, music] = [newCall(), newCall()];
    await served.emulator.follow([
      says(call('pay', pay, { to: 'Ann' }), call('play', music, { track: 2 })),
      says('Music only.'),
    ]);
    const tab = served.visit(page, { tools: play });
    await tab.say('Everything');
    await tab.deny(tab.call('pay'), 'not her');

    await expectSound(tab, { posts: 3 });
    expect(outline(tab.messages)).toEqual([['pay: output-denied', 'play: output-available']]);
    expectLastWord(tab, /^Music only/);
    await expectServed(tab);
    expect(notes(pay)).toEqual([]);
    const requests = await asked(served.emulator);
    expect(requests).toHaveLength(2);
    expect(requests[1]?.slice(-2).sort()).toEqual(
      [`response ${pay} {"error":"Denied: not her"}`, `response ${music} {"playing":2}`].sort(),
    );
  });

  test.each(pages)(
    'one that works, and one for the page, on version $major over $transport',
    async page => {
      const [look, music] = [newCall(), newCall()];
      await served.emulator.follow([
        says(call('look', look, { at: 'the sea' }), call('play', music, { track: 2 })),
        // Gemini does not take that: it is asked without the result of one of its calls.
        ...(app === 'plain' ? [says('Too early.')] : []),
        says('All is done.'),
      ]);
      const tab = served.visit(page, { tools: play });
      await tab.say('Look, and play');

      await expectSound(tab, { posts: 2 });
      expect(outline(tab.messages)).toEqual([['look: output-available', 'play: output-available']]);
      expectLastWord(tab, /^All is done/);
      await expectServed(tab);
      expect((await asked(served.emulator)).at(-1)?.slice(-2).sort()).toEqual(
        [`response ${look} {"seen":"the sea"}`, `response ${music} {"playing":2}`].sort(),
      );
    },
  );

  test.each(twoPages)(
    'the server dies while both are waited for, on version $major over $transport',
    async page => {
      const [pay, music] = [newCall(), newCall()];
      await served.emulator.follow([
        says(call('pay', pay, { to: 'Ann' }), call('play', music, { track: 2 })),
        ...(app === 'plain' ? [says('Too early.')] : []),
        says('All is done.'),
      ]);
      const tab = served.visit(page, { tools: play });
      await tab.say('Everything');
      await served.server.crash();
      await expectServed(tab, 'parked');
      await tab.approve(tab.call('pay'));

      await expectSound(tab, { posts: 3 });
      expect(outline(tab.messages)).toEqual([['pay: output-available', 'play: output-available']]);
      expect(tab.text).toBe('All is done.');
      await expectServed(tab);
      expect(notes(pay)).toHaveLength(1);
    },
  );
});
