/**
 * Several confirmations in one step: ADK gets all answers at once, whatever their order, and the
 * model why something was denied.
 */
import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/server/tab.ts';
import { pages, serveFaulty, twoPages } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound, outline, servedAs } from '../turn/sound.ts';
import { apps, asked, call, newCall, notes, says } from './probe.ts';

const answers = [true, false].flatMap(ann => [true, false].map(ben => ({ ann, ben })));

const state = (approved: boolean) => `pay: output-${approved ? 'available' : 'denied'}`;

describe.each(apps)('%s', app => {
  const served = serveFaulty({ adkApp: app });

  /** The model pays Ann and Ben, and says something once it knows the outcome of it. */
  async function script(): Promise<[string, string]> {
    const [ann, ben] = [newCall(), newCall()];
    await served.emulator.follow([
      says(call('pay', ann, { to: 'Ann' }), call('pay', ben, { to: 'Ben' })),
      says('That is all.'),
    ]);
    return [ann, ben];
  }

  /** ADK ran what was approved, once, and the model got the outcome of each call. */
  async function expectReported(ids: [string, string], approved: boolean[], reason: string) {
    const ran = ids.filter((_, index) => approved[index]);
    expect(notes(...ids).map(note => note.call)).toEqual(expect.arrayContaining(ran));
    expect(notes(...ids)).toHaveLength(ran.length);
    const requests = await asked(served.emulator);
    expect(requests).toHaveLength(2);
    const sent = ids.map((id, index) => {
      const denied = { error: reason === '' ? 'Denied' : `Denied: ${reason}` };
      const paid = { paid: index === 0 ? 'Ann' : 'Ben' };
      return `response ${id} ${JSON.stringify(approved[index] ? paid : denied)}`;
    });
    expect(requests[1]?.slice(-2).sort()).toEqual(sent.sort());
  }

  for (const { ann, ben } of answers) {
    const said = [ann, ben].map(approved => (approved ? 'yes' : 'no')).join(', ');

    test.each(pages)(`${said}, in the page, on version $major over $transport`, async page => {
      const ids = await script();
      const tab = served.visit(page);
      await tab.say('Pay both');
      expect(outline(tab.messages)).toEqual([
        ['pay: approval-requested', 'pay: approval-requested'],
      ]);
      const [first, second] = tab.calls('pay');
      tab.answer(first ?? tab.call('nothing'), ann, ann ? undefined : 'not them');
      tab.answer(second ?? tab.call('nothing'), ben, ben ? undefined : 'not them');

      await expectSound(tab, { posts: 2 });
      expect(outline(tab.messages)).toEqual([[state(ann), state(ben)]]);
      expectLastWord(tab, /That is all/);
      await expectServed(tab);
      await expectReported(ids, [ann, ben], 'not them');
    });

    for (const order of ['forwards', 'backwards']) {
      test.each(twoPages)(
        `${said}, one after the other from elsewhere, ${order}, on version $major over $transport`,
        async page => {
          const ids = await script();
          const tab = served.visit(page);
          await tab.say('Pay both');
          const questions = tab
            .calls('pay')
            .map((part, index) => ({ part, yes: [ann, ben][index] }));
          const inTurn = order === 'forwards' ? questions : questions.toReversed();
          for (const [index, { part, yes }] of inTurn.entries()) {
            const answer = await tab.api.answer(part.approval?.id ?? '', {
              approved: yes === true,
            });
            expect(answer.status).toBe(200);
            if (index === 0) {
              // Nothing is done by halves: the turn waits for the other answer.
              expect((await tab.api.chat(tab.id))?.status).toBe('parked');
              expect(await tab.api.approvals()).toHaveLength(1);
              expect(notes(...ids)).toEqual([]);
            }
          }
          const chat = await servedAs(tab, 'finished');
          expect(outline(chat.messages)).toEqual([[state(ann), state(ben)]]);
          expect(textOf(chat.messages.at(-1))).toBe('That is all.');
          await expectReported(ids, [ann, ben], '');

          // The page has received nothing, and answers the same.
          for (const { part, yes } of questions) {
            tab.answer(part, yes === true);
          }
          await expectSound(tab, { posts: 2 });
          await expectServed(tab);
          await expectReported(ids, [ann, ben], '');
        },
      );
    }
  }

  test.each(pages)(
    'one answer is sent before the other is given, on version $major over $transport',
    async page => {
      const ids = await script();
      const tab = served.visit(page);
      await tab.say('Pay both');
      const [first, second] = tab.calls('pay');
      tab.answer(first ?? tab.call('nothing'), true);
      await tab.sendAnswers();
      // The window closes at once; the answer counts.
      expect(outline(tab.messages)).toEqual([
        ['pay: approval-responded', 'pay: approval-requested'],
      ]);
      await expectServed(tab, 'parked');
      expect(notes(...ids)).toEqual([]);
      tab.answer(second ?? tab.call('nothing'), false, 'not him');

      await expectSound(tab, { posts: 3 });
      expect(outline(tab.messages)).toEqual([[state(true), state(false)]]);
      expectLastWord(tab, /That is all/);
      await expectServed(tab);
      await expectReported(ids, [true, false], 'not him');
    },
  );

  test.each(twoPages)(
    'another input than the one asked about is refused, on version $major over $transport',
    async page => {
      const [id] = await script();
      const tab = served.visit(page);
      await tab.say('Pay both');
      const [part] = tab.calls('pay');
      const edited = { approved: true, input: { to: 'Mallory' } };
      expect(await tab.api.answer(part?.approval?.id ?? '', edited)).toMatchObject({
        status: 400,
        body: {
          error: { code: 'invalid_input', message: expect.stringMatching(/the agent runs this/) },
        },
      });
      expect(await tab.api.approvals()).toHaveLength(2);
      expect(notes(id)).toEqual([]);
    },
  );
});
