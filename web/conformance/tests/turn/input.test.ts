/** The input of a call: checked before anything is asked, and again when a person changed it. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import type { Json } from '../../src/stream.ts';
import { toolParts } from '../../src/tool-part.ts';
import { flow } from './flow.ts';
import { serve } from './served.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  expectValid,
  outline,
  servedAs,
} from './sound.ts';

const served = serve();

flow('failed-call').each(majors)(
  'one that the tool does not take goes back to the model, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('call with bad input');

    await expectSound(tab, { posts: 1 });
    const [part] = tab.messages.flatMap(toolParts);
    expect(part).toMatchObject({ state: 'output-error', errorText: expect.stringMatching(/\S/) });
    expectLastWord(tab);
    await expectServed(tab);
    expect(await tab.api.approvals()).toEqual([]);
    await expectPaid(tab, []);
  },
);

flow('edited-input').each(majors)(
  'one that the approver changed is the one that counts, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    const { approval, input } = tab.call('process_payment');
    const approvalId = approval?.id ?? '';
    const changed = { ...(input as Record<string, Json>), amount: 15 };
    const answer = { approved: true, input: changed };
    const first = await tab.api.answer(approvalId, answer);
    expect(first).toMatchObject({ status: 200, body: { approvalId, ...answer } });
    expect(await tab.api.answer(approvalId, answer), 'the same again').toEqual(first);

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['process_payment: output-available']]);
    expect(textOf(chat.messages.at(-1))).toMatch(/\b15\b/);
    await expectValid(chat.messages);
    await expectPaid(tab, [{ amount: 15, recipient: 'Sam' }]);

    // The page has the input that it was asked about, and its answer is no forgery for that.
    await tab.approve(tab.call('process_payment'));
    await expectSound(tab, { posts: 2 });
    expect(tab.text).toBe(textOf(chat.messages.at(-1)));
    await expectPaid(tab, [{ amount: 15, recipient: 'Sam' }]);
  },
);

flow('edited-input').each(majors)(
  'another change of the same input is refused, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    const { approval, input } = tab.call('process_payment');
    const approvalId = approval?.id ?? '';
    const change = (amount: number) => ({
      approved: true,
      input: { ...(input as Record<string, Json>), amount },
    });
    expect((await tab.api.answer(approvalId, change(15))).status).toBe(200);
    expect(await tab.api.answer(approvalId, change(16))).toMatchObject({
      status: 409,
      body: { error: { code: 'already_decided' }, decision: { approvalId, input: { amount: 15 } } },
    });
    await servedAs(tab, 'finished');
    await expectPaid(tab, [{ amount: 15, recipient: 'Sam' }]);
  },
);

test.each(majors)('a change that the tool does not take is refused, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  for (const input of [{ amount: 'plenty', recipient: 'Sam' }, { amount: 20 }, 'all of it']) {
    expect(await tab.api.answer(approvalId, { approved: true, input })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_input', message: expect.stringMatching(/\S/) } },
    });
  }
  expect(await tab.api.approvals()).toHaveLength(1);
  await expectPaid(tab, []);

  await tab.approve(tab.call('process_payment'));
  await expectSound(tab, { posts: 2 });
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});
