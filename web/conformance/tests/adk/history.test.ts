/**
 * What the model gets of a chat whose history was cut: a session of ADK can't be cut, so another is
 * made from the journal.
 */
import { describe, expect, test } from 'vitest';
import { pages, serveFaulty } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound } from '../turn/sound.ts';
import { apps, asked, call, newCall, notes, says } from './probe.ts';

describe.each(apps)('%s', app => {
  const served = serveFaulty({ adkApp: app });

  const lastAsked = async () => (await asked(served.emulator)).at(-1);

  test.each(pages)('an answer is regenerated, on version $major over $transport', async page => {
    await served.emulator.follow([says('One.'), says('Two.'), says('Three.')]);
    const tab = served.visit(page);
    await tab.say('first');
    await tab.say('second');
    expect(await lastAsked()).toEqual(['first', 'One.', 'second']);
    await tab.regenerate();

    await expectSound(tab, { posts: 3 });
    expectLastWord(tab, /^Three/);
    await expectServed(tab);
    expect(await lastAsked()).toEqual(['first', 'One.', 'second']);

    await served.emulator.follow([says('Four.')]);
    await tab.say('third');
    expect(await lastAsked()).toEqual(['first', 'One.', 'second', 'Three.', 'third']);
    await expectServed(tab);
  });

  test.each(pages)(
    'a message is said differently, on version $major over $transport',
    async page => {
      const id = newCall();
      await served.emulator.follow([
        says('One.'),
        says(call('look', id, { at: 'the sea' })),
        says('It is blue.'),
        says('Two.'),
        says('Three.'),
      ]);
      const tab = served.visit(page);
      await tab.say('first');
      await tab.say('look');
      const [, , second] = tab.messages;
      await tab.edit(second?.id ?? '', 'think');

      await expectSound(tab, { posts: 3 });
      expectLastWord(tab, /^Two/);
      await expectServed(tab);
      expect(await lastAsked()).toEqual(['first', 'One.', 'think']);
      expect(notes(id)).toHaveLength(1);

      await tab.edit(tab.messages[0]?.id ?? '', 'begin');
      expect(await lastAsked()).toEqual(['begin']);
      await expectServed(tab);
    },
  );

  test.each(pages)(
    'calls are sent with their outcomes, on version $major over $transport',
    async page => {
      const [look, pay] = [newCall(), newCall()];
      await served.emulator.follow([
        says(call('look', look, { at: 'the sea' }), call('pay', pay, { to: 'Ann' })),
        says('Paid.'),
        says('One.'),
        says('Two.'),
      ]);
      const tab = served.visit(page);
      await tab.say('look, and pay');
      await tab.approve(tab.call('pay'));
      await tab.say('more');
      const before = await lastAsked();
      expect(before).toEqual([
        'look, and pay',
        `call ${look} look`,
        `call ${pay} pay`,
        `response ${look} {"seen":"the sea"}`,
        `response ${pay} {"paid":"Ann"}`,
        'Paid.',
        'more',
      ]);
      await tab.regenerate();

      await expectSound(tab, { posts: 4 });
      expectLastWord(tab, /^Two/);
      await expectServed(tab);
      expect(await lastAsked()).toEqual(before);
      expect(notes(look, pay)).toHaveLength(2);
    },
  );

  test.each(pages)(
    'an open question goes with the history, on version $major over $transport',
    async page => {
      const [first, second] = [newCall(), newCall()];
      await served.emulator.follow([
        says(call('pay', first, { to: 'Ann' })),
        says(call('pay', second, { to: 'Ann' })),
        says('Paid.'),
      ]);
      const tab = served.visit(page);
      await tab.say('pay');
      await tab.regenerate();
      expect(await lastAsked()).toEqual(['pay']);
      await tab.approve(tab.call('pay'));

      await expectSound(tab, { posts: 3 });
      await expectServed(tab);
      expect(notes(first, second).map(note => note.call)).toEqual([second]);
    },
  );
});
