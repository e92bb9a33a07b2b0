/** A server that is killed while a chat is parked, and started again on the same journal. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { shown } from '../../src/server/shown.ts';
import { type Tab, textOf } from '../../src/server/tab.ts';
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
  outline,
  servedAs,
} from './sound.ts';

const served = serve({ store: 'sqlite', pace: 1 });

/** Slow enough that a report takes longer than a kill. */
const writing = serve({ store: 'sqlite', pace: 20 });

/** Kills the server, and sees that nothing of the chat was lost with it. */
async function crash(tab: Tab): Promise<void> {
  const before = await tab.api.chat(tab.id);
  const questions = await tab.api.approvals();
  await served.server.crash();
  const after = await tab.api.chat(tab.id);
  expect(after?.status).toBe(before?.status);
  expect(shown(after?.messages ?? [])).toEqual(shown(before?.messages ?? []));
  expect(await tab.api.approvals()).toEqual(questions);
}

flow('question-outlives-server').each(majors)(
  'a payment waits for its answer, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    await crash(tab);
    await tab.approve(tab.call('process_payment'));

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
    expectLastWord(tab, /Sam/);
    await expectServed(tab);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
  },
);

flow('question-outlives-server').each(majors)(
  'a denial after the restart, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    await crash(tab);
    await tab.deny(tab.call('process_payment'), 'I changed my mind');

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([['process_payment: output-denied']]);
    expectLastWord(tab, /I changed my mind/);
    await expectServed(tab);
    await expectPaid(tab, []);
  },
);

flow('question-outlives-server').each(majors)(
  'an answer from elsewhere after the restart, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    await crash(tab);
    const approvalId = tab.call('process_payment').approval?.id ?? '';
    expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);
    await until('Sam is paid', async () => (await tab.api.wallet()).payments.length === 1);
    await tab.approve(tab.call('process_payment'));

    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
  },
);

flow('tool-outlives-server').each(majors)(
  'a tool is between its two questions, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Book a flight to Oslo');
    await tab.approve(tab.call('book_flight'));
    await crash(tab);
    await tab.approve(tab.call('book_flight'));

    await expectSound(tab, { posts: 3 });
    expect(outline(tab.messages)).toEqual([['book_flight: output-available']]);
    expectLastWord(tab, /Oslo/);
    await expectServed(tab);
    const { payments, balance } = await tab.api.wallet();
    expect(payments).toHaveLength(1);
    expect(balance).toBe(880);
  },
);

flow('tool-outlives-server').each(majors)(
  'a tool is before its first question, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Book a flight to Oslo');
    await crash(tab);
    await tab.approve(tab.call('book_flight'));
    await crash(tab);
    await tab.deny(tab.call('book_flight'), 'it leaves too early');

    await expectSound(tab, { posts: 3 });
    expect(outline(tab.messages)).toEqual([['book_flight: output-denied']]);
    expectLastWord(tab, /it leaves too early/);
    await expectServed(tab);
    await expectPaid(tab, []);
  },
);

flow('parallel-questions', 'partial-answers', 'question-outlives-server').each(majors)(
  'one of two payments is answered, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Pay Ann $1 and Ben $2');
    const [ann] = tab.calls('process_payment');
    await tab.api.answer(ann?.approval?.id ?? '', { approved: true });
    await until('the journal says that Ann is paid', async () => {
      const chat = await tab.api.chat(tab.id);
      return outline(chat?.messages ?? [])[0]?.[0] === 'process_payment: output-available';
    });
    await crash(tab);
    for (const part of tab.calls('process_payment')) {
      tab.answer(part, true);
    }

    await expectSound(tab, { posts: 2 });
    expectLastWord(tab);
    await expectServed(tab);
    await expectPaid(tab, [
      { amount: 1, recipient: 'Ann' },
      { amount: 2, recipient: 'Ben' },
    ]);
  },
);

flow('tool-outlives-server').each(majors)('a tool waits for a page, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Set the mood for Tokyo');
  await crash(tab);
  const other = await served.reopen(tab, { tools: pageTools });
  await other.resume();

  await expectSound(tab, { posts: 1 });
  await expectSound(other, { posts: 1 });
  expect(outline(other.messages)).toEqual([
    ['set_mood: output-available', 'change_bgm: output-available'],
  ]);
  expectLastWord(other);
  await expectServed(other);
});

test.each(majors)('a chat that has ended is still there, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  await crash(tab);
  await tab.say('What is the weather in Oslo?');

  await expectSound(tab, { posts: 3 });
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)(
  'right after a yes, money moves once or the outcome is unknown, on version %s',
  async major => {
    for (let round = 0; round < 4; round++) {
      const tab = served.open(major);
      await tab.say('Send $20 to Sam');
      const approvalId = tab.call('process_payment').approval?.id ?? '';
      expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);
      await served.server.crash();
      const chat = await servedAs(tab, 'finished');

      const { payments } = await tab.api.wallet();
      const call = chat.messages.flatMap(toolParts)[0];
      if (call?.state === 'output-available') {
        expect(payments).toHaveLength(1);
      } else {
        expect(call?.errorText).toMatch(/unknown/i);
        expect(payments.length).toBeLessThanOrEqual(1);
      }
      await tab.approve(tab.call('process_payment'));
      await expectSound(tab, { posts: 2 });
      expect((await tab.api.wallet()).payments).toEqual(payments);
    }
  },
);

flow('resume').each(majors)(
  'a text that is being said is said again, on version %s',
  async major => {
    const tab = served.open(major);
    tab.begin('take your time');
    await until('some words have come', () => tab.text.split(' ').length > 3);
    await served.server.crash();
    await tab.quiet();
    if (tab.reconnects) {
      // It waits for the server, and continues where it was.
      await expectSound(tab, { posts: 1 });
      expectLastWord(tab, /word-200/);
      await expectServed(tab);
      return;
    }
    expect(tab.page.error).toBeDefined();

    const other = await served.reopen(tab);
    await other.resume();
    await expectSound(other, { posts: 0 });
    expectLastWord(other, /word-200/);
    await expectServed(other);
  },
);

flow('late-result').each(majors)(
  'a report that is being written is not forgotten, on version %s',
  async major => {
    const tab = writing.open(major);
    tab.begin('Write a report about tea');
    await until(
      'it is being written',
      () => tab.calls('write_report')[0]?.state === 'output-available',
    );
    await writing.server.crash();
    await tab.quiet();

    // It is written after all, or the chat says that nobody knows the outcome of it.
    const chat = await until('the report is shown', async () => {
      const now = await tab.api.chat(tab.id);
      return now?.status === 'finished' && now.messages.length === 3 && now;
    });
    expect(textOf(chat.messages[2])).toMatch(/\S/);
  },
);
