/** A server tool that asks: the window closes on the question, the answer opens the next. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { agent, serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)('nothing is paid before the answer, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([['process_payment: approval-requested']]);
  expect(tab.call('process_payment').input).toMatchObject({
    amount: 20,
    recipient: 'Sam',
    currency: 'USD',
  });
  await expectServed(tab, 'parked');
  await expectPaid(tab, []);
  const call = tab.call('process_payment');
  expect(await tab.api.approvals()).toEqual([
    {
      approvalId: call.approval?.id,
      chatId: tab.id,
      toolCallId: call.toolCallId,
      toolName: 'process_payment',
      input: call.input,
      question: expect.stringMatching(/\S/),
      askedAt: expect.any(Number),
      // What runs at the agent runs with the input of the model.
      editable: !/^(adk|ai-sdk|ag-ui)/.test(agent),
      // In live mode, ADK's tool runs already, and asks in the middle of its work.
      within: agent === 'adk-live',
      // An agent behind adk-stream has a name of its own.
      ...(agent === 'adk' && { path: ['assistant'] }),
      ...(agent === 'adk-live' && { path: ['assistant_live'] }),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
});

test.each(majors)('an approved payment is made once, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  expect(tab.call('process_payment')).toMatchObject({
    approval: { approved: true },
    output: expect.any(Object),
  });
  expectLastWord(tab, /Sam/);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
  expect(await tab.api.approvals()).toEqual([]);
  const [payment] = (await tab.api.wallet()).payments;
  expect(payment?.toolCallId).toBe(tab.call('process_payment').toolCallId);
});

test.each(majors)('an approval may have a reason, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'), 'I owe it to him');

  await expectSound(tab, { posts: 2 });
  expect(tab.call('process_payment')).toMatchObject({
    state: 'output-available',
    approval: { approved: true, reason: 'I owe it to him' },
  });
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)('a denied payment is not made, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.deny(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['process_payment: output-denied']]);
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, []);
});

test.each(majors)('a denial tells the agent why, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.deny(tab.call('process_payment'), 'he has been paid already');

  await expectSound(tab, { posts: 2 });
  expect(tab.call('process_payment')).toMatchObject({
    state: 'output-denied',
    approval: { approved: false, reason: 'he has been paid already' },
  });
  expectLastWord(tab, /he has been paid already/);
  await expectServed(tab);
  await expectPaid(tab, []);
});

test.each(majors)('a Japanese request is understood, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('次郎さんに200ドル送金してください');
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 200, recipient: 'Jiro' }]);
});

test.each(majors)('a payment that the wallet does not hold fails, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $5000 to Sam');
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  // As in the recordings, the tool ran and says in its output that it could not pay.
  expect(tab.call('process_payment')).toMatchObject({
    state: 'output-available',
    output: { success: false, error: expect.stringMatching(/insufficient/i) },
  });
  expectLastWord(tab, /insufficient/i);
  await expectServed(tab);
  await expectPaid(tab, []);
});

test.each(majors)('a chat goes on after a payment, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  await tab.say('Send $30 to Ann');
  await tab.approve(tab.calls('process_payment')[1] ?? tab.call('no second payment'));

  await expectSound(tab, { posts: 4 });
  expect(outline(tab.messages)).toEqual([
    ['process_payment: output-available'],
    ['process_payment: output-available'],
  ]);
  await expectServed(tab);
  await expectPaid(tab, [
    { amount: 20, recipient: 'Sam' },
    { amount: 30, recipient: 'Ann' },
  ]);
});
