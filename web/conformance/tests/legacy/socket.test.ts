/** What one socket of the legacy dialect carries: turns, chats, and all that is no request. */
import { expect, test } from 'vitest';
import type { Api } from '../../src/server/api.ts';
import { until } from '../../src/server/until.ts';
import { asksTogether, serve } from '../turn/served.ts';
import { expectValid } from '../turn/sound.ts';
import { asked, Plain } from './plain.ts';

const served = serve();

/** Slow enough to be interrupted. */
const slow = serve({ pace: 2 });

const hasty = serve({ approvalTimeout: 0.3 });

const paid = ['tool-output-available', 'text', 'finish', '[DONE]'];

const weather = ['start', 'tool-input-start', 'tool-input-available', ...paid];

async function statusOf(api: Api, chat: string) {
  return (await api.chat(chat))?.status;
}

test('every turn has a start and an end of its own, and nothing is said twice', async () => {
  const plain = await Plain.open(served.meet());
  const texts: string[] = [];
  for (const [index, prompt] of [
    'What is the weather in Oslo?',
    '東京の天気を教えて',
    'What is the weather in Oslo?',
  ].entries()) {
    plain.say(prompt);
    await plain.end(index + 1);
    texts.push(plain.text.slice(texts.join('').length));
  }

  expect(plain.order).toEqual([...weather, ...weather, ...weather]);
  expect(new Set(plain.chunks('start').map(({ messageId }) => messageId)).size).toBe(3);
  expect(texts[0]).toMatch(/Oslo/);
  expect(texts[2]).toMatch(/Oslo/);
  const messages = (await plain.api.chat(plain.chat))?.messages ?? [];
  expect(messages).toHaveLength(6);
  // What was said without an id has one, or no other page could show the chat.
  await expectValid(messages);
});

test('a payment waits while another chat goes on', async () => {
  const plain = await Plain.open(served.meet());
  plain.say('Send $20 to Sam');
  const question = await plain.question();
  plain.say('What is the weather in Oslo?', `${plain.chat}-other`);
  await plain.end();
  expect(plain.order).toEqual([...asked, ...weather]);
  expect(await statusOf(plain.api, plain.chat)).toBe('parked');
  await plain.answer('confirmation', question, { approved: true });
  await plain.end(2);

  expect(plain.order).toEqual([...asked, ...weather, ...paid]);
  expect(await statusOf(plain.api, plain.chat)).toBe('finished');
  expect(await statusOf(plain.api, `${plain.chat}-other`)).toBe('finished');
  expect((await plain.api.wallet()).balance).toBe(980);
});

test('two payments wait in two chats, and each answer finds its own', async () => {
  const plain = await Plain.open(served.meet());
  const other = `${plain.chat}-other`;
  plain.say('Send $20 to Sam');
  const first = await plain.question();
  plain.say('Send $30 to Ann', other);
  const second = await plain.question(2);
  const parts = (approvalId: string, approved: boolean) => [
    {
      type: 'tool-process_payment',
      toolCallId: approvalId,
      state: 'approval-responded',
      approval: { id: approvalId, approved },
    },
  ];
  const answer = (id: string, approvalId: string, approved: boolean) =>
    plain.socket.send({
      type: 'message',
      id,
      messages: [{ role: 'user', parts: parts(approvalId, approved) }],
    });
  answer(plain.chat, first.approval?.id ?? '', false);
  await plain.end();
  answer(other, second.approval?.id ?? '', true);
  await plain.end(2);

  expect((await plain.api.wallet()).payments).toMatchObject([{ amount: 30, recipient: 'Ann' }]);
  expect(plain.errors).toEqual(['User denied the payment']);
});

test('an answer from elsewhere is shown at once, on every socket that waits', async () => {
  const plain = await Plain.open(served.meet());
  plain.say('Send $20 to Sam');
  const question = await plain.question();
  const approvalId = question.approval?.id ?? '';
  expect((await plain.api.answer(approvalId, { approved: true })).status).toBe(200);
  await plain.end();

  expect(plain.order).toEqual([...asked, ...paid]);
  expect((await plain.api.wallet()).balance).toBe(980);
});

test('of two sockets one answers, and both get it', async () => {
  const first = await Plain.open(served.meet());
  first.say('Send $20 to Sam');
  const question = await first.question();
  const second = await first.again('wrapped');
  await second.answer('call', question, { approved: true });
  await Promise.all([first.end(), second.end()]);

  expect(first.order).toEqual([...asked, ...paid]);
  expect(second.order).toEqual(['start', ...paid]);
  expect(second.text).toBe(first.text);
  expect((await first.api.wallet()).balance).toBe(980);
});

test('a question that nobody answers is taken back in the same stream', async () => {
  const plain = await Plain.open(hasty.meet());
  plain.say('Send $20 to Sam');
  await plain.end();

  expect(plain.order).toEqual([...asked, 'tool-output-error', 'text', 'finish', '[DONE]']);
  expect(plain.errors).toEqual(['Approval request timed out']);
  expect((await plain.api.wallet()).payments).toEqual([]);
});

test('a message over an open question gets its own turn alone', async () => {
  for (let round = 0; round < 20; round++) {
    const plain = await Plain.open(served.meet());
    plain.say('Send $20 to Sam');
    const question = await plain.question();
    plain.say('What is the weather in Oslo?');
    await plain.end();

    // The page has closed its stream at the question: the outcome of the old turn would be read in the new.
    expect(plain.order).toEqual([...asked, ...weather]);
    // It comes too late, and pays nothing.
    await plain.answer('confirmation', question, { approved: true });
    await plain.socket.taken();
    expect((await plain.api.wallet()).payments).toEqual([]);
    await plain.socket.close();
  }
});

test('two payments: side by side where the agent asks so, else one after the other', async () => {
  const plain = await Plain.open(served.meet(), { wrapping: 'wrapped' });
  plain.say('Aliceに30ドル、Bobに40ドル送金してください');
  if (asksTogether) {
    const questions = [await plain.question(1), await plain.question(2)];
    // The second first, and each by itself.
    for (const question of questions.reverse()) {
      await plain.answer('confirmation', question, { approved: true });
    }
  } else {
    await plain.answer('confirmation', await plain.question(1), { approved: true });
    await plain.answer('confirmation', await plain.question(2), { approved: true });
  }
  await plain.end();

  const call = ['tool-input-start', 'tool-input-available'];
  const question = ['start-step', 'tool-approval-request', 'finish-step'];
  const output = 'tool-output-available';
  const end = ['text', 'finish', '[DONE]'];
  expect(plain.order).toEqual(
    asksTogether
      ? ['start', ...call, ...call, ...question, ...question, output, output, ...end]
      : ['start', ...call, ...question, output, ...call, ...question, output, ...end],
  );
  const { payments, balance } = await plain.api.wallet();
  expect(payments.map(({ amount }) => amount).sort()).toEqual([30, 40]);
  expect(balance).toBe(930);
});

test('an interrupt stops what is being said, and the next turn is as new', async () => {
  const plain = await Plain.open(slow.meet());
  plain.say('take your time');
  await plain.socket.until('some words', () => plain.chunks('text-delta').length > 3);
  plain.socket.send({ type: 'interrupt', reason: 'user_abort' });
  await plain.end();
  expect(plain.order).toEqual(['start', 'text', 'finish', '[DONE]']);
  expect(await statusOf(plain.api, plain.chat)).toBe('stopped');
  plain.say('What is the weather in Oslo?');
  await plain.end(2);

  expect(plain.order.slice(4)).toEqual(weather);
});

test('an interrupt takes an open question back', async () => {
  const plain = await Plain.open(served.meet(), { wrapping: 'wrapped' });
  plain.say('Send $20 to Sam');
  const question = await plain.question();
  plain.socket.send({ type: 'interrupt' });
  await plain.end();

  expect(plain.order).toEqual([...asked, 'tool-output-error', 'finish', '[DONE]']);
  expect(await statusOf(plain.api, plain.chat)).toBe('stopped');
  expect(await plain.api.approvals()).toEqual([]);
  const approvalId = question.approval?.id ?? '';
  expect((await plain.api.answer(approvalId, { approved: true })).status).toBe(409);
  expect((await plain.api.wallet()).payments).toEqual([]);
});

test('while a question waits, everything else gets through', async () => {
  const plain = await Plain.open(served.meet());
  plain.say('Send $20 to Sam');
  const question = await plain.question();
  await plain.socket.taken();
  plain.socket.sendText('{"type":"dance"}');
  plain.socket.send({ type: 'tool_result', toolCallId: 'nobody', result: {} });
  plain.socket.sendText('{"type":"audio_control","action":"start"}');
  plain.socket.sendText('{"type":"audio_chunk","chunk":"AAA="}');
  await plain.socket.taken();
  expect(plain.refusals).toEqual([
    expect.stringMatching(/^type: /),
    expect.stringMatching(/^unknown_call: /),
    // The demo takes no audio.
    expect.stringMatching(/^audio_unsupported: /),
  ]);
  await plain.answer('confirmation', question, { approved: true });
  await plain.end();

  const isRefusal = (kind: string) => kind === 'error';
  expect(plain.order.filter(kind => !isRefusal(kind))).toEqual([...asked, ...paid]);
  expect((await plain.api.wallet()).balance).toBe(980);
});

test.each(['{', 'null', '"message"', '[]'])(
  'what is no frame does not touch the turn: %s',
  async text => {
    const plain = await Plain.open(served.meet());
    plain.say('Send $20 to Sam');
    const question = await plain.question();
    plain.socket.sendText(text);
    if (text === '{') {
      expect(await plain.socket.closed).toBe(1002);
    } else {
      await plain.socket.taken();
      expect(plain.refusals).toEqual([expect.stringMatching(/\S/)]);
    }
    const second = await plain.again();
    await second.answer('confirmation', question, { approved: true });
    await second.end();

    expect(second.order).toEqual(['start', ...paid]);
    expect((await plain.api.wallet()).balance).toBe(980);
  },
);

test('a server that dies in the middle is found again, and the answer counts', async () => {
  const plain = await Plain.open(slow.meet());
  plain.say('Send $20 to Sam');
  const question = await plain.question();
  await slow.server.crash();
  await plain.socket.closed;
  const second = await plain.again();
  await second.answer('confirmation', question, { approved: true });
  await second.end();

  expect(second.order).toEqual(['start', ...paid]);
  expect((await plain.api.wallet()).balance).toBe(980);
});

test('a message that is sent again on another socket asks the same question', async () => {
  const plain = await Plain.open(served.meet());
  const messages = [{ id: 'm-1', role: 'user', content: 'Send $20 to Sam' }];
  plain.socket.send({ type: 'message', id: plain.chat, messages });
  const question = await plain.question();
  await plain.socket.close();
  const second = await plain.again();
  second.socket.send({ type: 'message', id: plain.chat, messages });
  expect(await second.question()).toEqual(question);
  expect(second.order).toEqual(asked);
  await second.answer('confirmation', question, { approved: true });
  await second.end();

  expect(second.order).toEqual([...asked, ...paid]);
  expect((await plain.api.wallet()).balance).toBe(980);
});

test('a late answer to an earlier question gets all that followed', async () => {
  const plain = await Plain.open(served.meet());
  plain.say('Book a flight to Oslo');
  const first = await plain.question();
  await plain.socket.close();
  await plain.api.answer(first.approval?.id ?? '', { approved: true });
  const next = await until('the second question', async () => {
    const [question] = await plain.api.approvals();
    return question?.approvalId !== first.approval?.id && question;
  });
  const second = await plain.again();
  await second.answer('confirmation', first, { approved: true });
  const question = await second.question();
  expect(question.approval?.id).toBe(next.approvalId);
  await second.answer('confirmation', question, { approved: true });
  await second.end();

  expect(second.chunks('tool-output-available').at(-1)).toMatchObject({
    toolCallId: first.toolCallId,
  });
  expect((await plain.api.wallet()).balance).toBe(880);
});

test('no call is sent across the question of another', async () => {
  const plain = await Plain.open(served.meet());
  plain.say('Pay Ann $5 and tell me where I am');
  await plain.answer('confirmation', await plain.question(1), { approved: true });
  await plain.answer(
    'confirmation',
    await plain.question(2),
    { approved: true },
    { output: { latitude: 35.6 } },
  );
  await plain.end();

  const begun = plain.order.filter(kind => kind !== 'tool-output-available');
  expect(begun).toEqual([...asked, ...asked.slice(1), 'text', 'finish', '[DONE]']);
  expect((await plain.api.wallet()).balance).toBe(995);
});
