/** A turn is stopped by an act of its own, and stays stopped. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { shown } from '../../src/server/shown.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { toolParts } from '../../src/tool-part.ts';
import { flow } from './flow.ts';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  expectValid,
  outline,
} from './sound.ts';

const served = serve({ pace: 1 });

/** To an answer that comes after the stop the server may say so, or show it in the message. */
const excuse = /stopped/i;

test.each(majors)('in the middle of a text, the window closes, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('take your time');
  await until('some words have come', () => tab.text.split(' ').length > 3);
  expect(await tab.api.stop(tab.id)).toBe(true);

  await expectSound(tab, { posts: 1 });
  expectLastWord(tab);
  await expectServed(tab, 'stopped');
  expect(await tab.api.stop(tab.id), 'there is nothing left to stop').toBe(false);

  const stopped = shown(tab.messages);
  await tab.say('What is the weather in Oslo?');
  await expectSound(tab, { posts: 2 });
  expect(shown(tab.messages.slice(0, 2))).toEqual(stopped);
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
});

test.each(majors)("beside the client's own stop, on version %s", async major => {
  const tab = served.open(major);
  tab.begin('take your time');
  await until('some words have come', () => tab.text.split(' ').length > 3);
  await tab.leave();
  expect(await tab.api.stop(tab.id)).toBe(true);

  // The client broke off in the middle of the text.
  await expectSound(tab, { posts: 1, tolerated: ['unfinished'] });
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('stopped');
  expect(textOf(chat?.messages.at(-1))).toContain(tab.text);
  await expectValid(chat?.messages ?? []);
  const other = await served.reopen(tab);
  await other.resume();
  expect(other.connection.nothingToResume).toBe(1);
});

test.each(majors)('with an open question, nothing loops afterwards, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  expect(await tab.api.stop(tab.id)).toBe(true);

  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('stopped');
  expect(outline(chat?.messages ?? [])[0]?.[0]).toMatch(/^process_payment: output-(denied|error)$/);
  await expectValid(chat?.messages ?? []);
  expect(await tab.api.approvals()).toEqual([]);
  expect(await tab.api.answer(approvalId, { approved: true })).toMatchObject({
    status: 409,
    body: { error: { code: 'already_decided' } },
  });
  await expectSound(tab, { posts: 1 });

  // The page still shows the question, and the person answers it.
  await tab.approve(tab.call('process_payment'));
  await expectSound(tab, { posts: 2, excuse });
  expect(tab.call('process_payment').state).toMatch(/^output-(denied|error)$/);
  await expectPaid(tab, []);

  await tab.say('What is the weather in Oslo?');
  await expectSound(tab, { posts: 3, tolerated: ['throws'] });
  expectLastWord(tab, /Oslo/);
  await expectPaid(tab, []);
});

test.each(majors)('with an open question that is then denied, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  expect(await tab.api.stop(tab.id)).toBe(true);
  await tab.deny(tab.call('process_payment'));

  await expectSound(tab, { posts: 2, excuse });
  expect(tab.call('process_payment').state).toMatch(/^output-(denied|error)$/);
  await expectPaid(tab, []);
});

test.each(majors)(
  'while a page runs a tool, its output comes too late, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('play track 1');
    const { toolCallId } = tab.call('change_bgm');
    expect(await tab.api.stop(tab.id)).toBe(true);
    tab.give(toolCallId, { output: { success: true, track: 1 } });

    // The page shows an output; it gets that the call was given up before.
    await expectSound(tab, { posts: 2, excuse, tolerated: ['state-back'] });
    expect((await tab.api.chat(tab.id))?.status).toBe('stopped');
  },
);

flow('asking-tool').each(majors)(
  'a tool that is in the middle of its work, on version %s',
  async major => {
    const tab = served.open(major, { tools: pageTools });
    await tab.say('Book a flight to Oslo');
    await tab.approve(tab.call('book_flight'));
    expect(await tab.api.stop(tab.id)).toBe(true);
    await tab.approve(tab.call('book_flight'));

    await expectSound(tab, { posts: 3, excuse });
    expect(tab.call('book_flight').state).toMatch(/^output-(denied|error)$/);
    await expectPaid(tab, []);
  },
);

test.each(majors)(
  'right after a yes, the chat says what became of the money, on version %s',
  async major => {
    for (let round = 0; round < 8; round++) {
      const tab = served.open(major);
      await tab.say('Send $20 to Sam');
      const approvalId = tab.call('process_payment').approval?.id ?? '';
      expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);
      await tab.api.stop(tab.id);
      const chat = await until('the turn has ended', async () => {
        const now = await tab.api.chat(tab.id);
        return (now?.status === 'stopped' || now?.status === 'finished') && now;
      });

      const { payments } = await tab.api.wallet();
      const call = chat.messages.flatMap(toolParts)[0];
      expect(payments.length).toBeLessThanOrEqual(1);
      if (call?.state === 'output-available') {
        expect(payments).toHaveLength(1);
      } else if (payments.length === 1) {
        expect(call?.errorText).toMatch(/unknown/i);
      }
    }
  },
);
