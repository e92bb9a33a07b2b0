/** A question that nobody answers in time: the turn continues without anybody. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { flow } from './flow.ts';
import { callIn } from './forged.ts';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import {
  expectLastWord,
  expectPaid,
  expectSound,
  expectValid,
  outline,
  servedAs,
} from './sound.ts';

const served = serve({ approvalTimeout: 1 });

const timedOut = expect.stringMatching(/timed out/i);

test.each(majors)('the turn goes on by itself, on version %s', async major => {
  const tab = served.open(major);
  const said = tab.say('Send $20 to Sam');
  // Looked for meanwhile: a busy machine may take as long to say it as the question is open.
  const open = await until('it is asked', async () => {
    const approvals = await tab.api.approvals();
    return approvals.length > 0 && approvals;
  });
  expect(open).toEqual([expect.objectContaining({ expiresAt: expect.any(Number) })]);
  await said;

  const chat = await servedAs(tab, 'finished');
  expect(outline(chat.messages)).toEqual([['process_payment: output-error']]);
  expect(callIn(chat.messages, 'process_payment').errorText).toEqual(timedOut);
  expect(textOf(chat.messages.at(-1))).toMatch(/\S/);
  await expectValid(chat.messages);
  expect(await tab.api.approvals()).toEqual([]);
  await expectSound(tab, { posts: 1 });
  await expectPaid(tab, []);
});

test.each(majors)(
  'a yes that comes too late gets all that happened, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    const chat = await servedAs(tab, 'finished');
    await tab.quiet();
    await tab.approve(tab.call('process_payment'));

    await expectSound(tab, { posts: 2 });
    expect(tab.call('process_payment')).toMatchObject({
      state: 'output-error',
      errorText: timedOut,
    });
    expectLastWord(tab);
    expect(tab.text).toBe(textOf(chat.messages.at(-1)));
    expect((await tab.api.chat(tab.id))?.messages).toEqual(chat.messages);
    await expectPaid(tab, []);
  },
);

test.each(majors)('a no that comes too late gets all that happened, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const chat = await servedAs(tab, 'finished');
  await tab.quiet();
  await tab.deny(tab.call('process_payment'), 'too late');

  await expectSound(tab, { posts: 2 });
  expect(tab.call('process_payment').state).toMatch(/^output-(denied|error)$/);
  expectLastWord(tab);
  expect(tab.text).toBe(textOf(chat.messages.at(-1)));
  expect((await tab.api.chat(tab.id))?.messages).toEqual(chat.messages);
  await expectPaid(tab, []);
});

test.each(majors)(
  'an answer from elsewhere that comes too late is refused, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    const approvalId = tab.call('process_payment').approval?.id ?? '';
    await servedAs(tab, 'finished');

    for (const approved of [true, false]) {
      expect(await tab.api.answer(approvalId, { approved })).toMatchObject({
        status: 409,
        body: { error: { code: 'already_decided' }, decision: { approvalId } },
      });
    }
    await expectSound(tab, { posts: 1 });
    await expectPaid(tab, []);
  },
);

flow('several-calls').each(majors)(
  'one question times out beside one that was answered, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Pay Ann $1 and Ben $2');
    const [ann] = tab.calls('process_payment');
    const { status } = await tab.api.answer(ann?.approval?.id ?? '', { approved: true });
    expect(status).toBe(200);

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: output-error'],
    ]);
    await expectPaid(tab, [{ amount: 1, recipient: 'Ann' }]);

    for (const part of tab.calls('process_payment')) {
      tab.answer(part, true);
    }
    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual(outline(chat.messages));
    await expectPaid(tab, [{ amount: 1, recipient: 'Ann' }]);
  },
);

flow('asking-tool').each(majors)(
  "a tool's second question times out, on version %s",
  async major => {
    const tab = served.open(major);
    await tab.say('Book a flight to Oslo');
    await tab.approve(tab.call('book_flight'));
    expect(tab.call('book_flight').state).toBe('approval-requested');

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['book_flight: output-error']]);
    await expectValid(chat.messages);
    await expectSound(tab, { posts: 2 });
    await expectPaid(tab, []);

    await tab.approve(tab.call('book_flight'));
    await expectSound(tab, { posts: 3 });
    expect(tab.call('book_flight')).toMatchObject({ state: 'output-error', errorText: timedOut });
    expectLastWord(tab);
    await expectPaid(tab, []);
  },
);

test.each(majors)('a client tool is not run when nobody allowed it, on version %s', async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('Where am I?');
  await servedAs(tab, 'finished');
  // A connected page gets the timeout; until then, its person may still approve.
  await tab.quiet();
  await tab.approve(tab.call('get_location'));

  await expectSound(tab, { posts: 2 });
  expect(tab.call('get_location')).toMatchObject({ state: 'output-error', errorText: timedOut });
  expect(tab.ran).toEqual([]);
  expectLastWord(tab);
});
