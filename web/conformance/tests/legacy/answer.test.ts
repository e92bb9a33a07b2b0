/** Every shape in which pages of the legacy dialect answer and give outputs, flat and wrapped. */
import { describe, expect, test } from 'vitest';
import { type AnswerForm, answerForms, answerMessages } from '../../src/server/legacy-answer.ts';
import type { Wrapping } from '../../src/server/legacy-socket.ts';
import { toolParts } from '../../src/tool-part.ts';
import { serve } from '../turn/served.ts';
import { asked, Plain } from './plain.ts';

const served = serve();

const wrappings: Wrapping[] = ['flat', 'wrapped'];

const ways = answerForms.flatMap(form => wrappings.map(wrapping => ({ form, wrapping })));

const place = { latitude: 35.6, longitude: 139.7, accuracy: 20 };

describe.each(ways)('answered as $form, $wrapping', ({ form, wrapping }) => {
  test('yes: it is paid once, and sent in the order of the legacy dialect', async () => {
    const plain = await Plain.open(served.meet(), { wrapping });
    plain.say('Send $20 to Sam');
    const question = await plain.question();
    expect(plain.order).toEqual(asked);
    await plain.answer(form, question, { approved: true });
    await plain.end();

    expect(plain.order).toEqual([...asked, 'tool-output-available', 'text', 'finish', '[DONE]']);
    expect(plain.text).toMatch(/Sam/);
    const { payments, balance } = await plain.api.wallet();
    expect(payments).toMatchObject([
      { amount: 20, recipient: 'Sam', toolCallId: question.toolCallId },
    ]);
    expect(balance).toBe(980);
    expect(await plain.api.chat(plain.chat)).toMatchObject({ status: 'finished' });
  });

  test('no: it is not paid, and the agent gets the reason', async () => {
    const plain = await Plain.open(served.meet(), { wrapping });
    plain.say('花子さんに50ドル送金してください');
    const question = await plain.question();
    await plain.answer(form, question, { approved: false, reason: 'not this month' });
    await plain.end();

    expect(plain.order).toEqual([...asked, 'tool-output-error', 'text', 'finish', '[DONE]']);
    expect(plain.errors).toEqual(['User denied the payment']);
    expect(plain.text).toMatch(/not this month/);
    expect((await plain.api.wallet()).payments).toEqual([]);
    const chat = await plain.api.chat(plain.chat);
    expect(chat?.status).toBe('finished');
    expect(chat?.messages.flatMap(toolParts)).toMatchObject([
      {
        state: 'output-denied',
        approval: { id: question.approval?.id, approved: false, reason: 'not this month' },
      },
    ]);
  });

  test('on a socket of its own, after the first was lost', async () => {
    const first = await Plain.open(served.meet(), { wrapping });
    first.say('Send $20 to Sam');
    const question = await first.question();
    await first.socket.close();
    const second = await first.again(wrapping);
    await second.answer(form, question, { approved: true });
    await second.end();

    expect(second.order).toEqual(['start', 'tool-output-available', 'text', 'finish', '[DONE]']);
    expect(second.chunks('start')).toEqual(first.chunks('start'));
    expect((await first.api.wallet()).payments).toHaveLength(1);
  });

  test('a tool of the page, its output beside the yes', async () => {
    const plain = await Plain.open(served.meet(), { wrapping });
    plain.say('Where am I?');
    await plain.answer(form, await plain.question(), { approved: true }, { output: place });
    await plain.end();

    expect(plain.order).toEqual([...asked, 'tool-output-available', 'text', 'finish', '[DONE]']);
    expect(plain.chunks('tool-output-available')).toMatchObject([{ output: place }]);
  });

  test('a tool of the page, its output after the yes', async () => {
    const plain = await Plain.open(served.meet(), { wrapping });
    plain.say('現在地を教えて');
    const question = await plain.question();
    await plain.answer(form, question, { approved: true });
    const { toolCallId } = question;
    plain.socket.send({ type: 'tool_result', toolCallId, result: place });
    await plain.end();

    // A page that asked for it knows already that it may run now.
    expect(plain.order).toEqual([...asked, 'tool-output-available', 'text', 'finish', '[DONE]']);
    expect(plain.chunks('tool-output-available')).toMatchObject([{ output: place }]);
  });

  test('a tool of the page that nobody allowed', async () => {
    const plain = await Plain.open(served.meet(), { wrapping });
    plain.say('Where am I?');
    await plain.answer(form, await plain.question(), { approved: false });
    await plain.end();

    expect(plain.errors).toEqual(['User denied location access']);
  });
});

describe.each(wrappings)('the output of a tool that asks nobody, %s', wrapping => {
  test.each([{}, { success: true, current_track: 1 }, null, 'louder', [1, 2]])(
    '%j',
    async result => {
      const plain = await Plain.open(served.meet(), { wrapping });
      plain.say('トラック1に変更して');
      await plain.socket.until('the call', () => plain.chunks('tool-input-available').length > 0);
      const toolCallId = String(plain.chunks('tool-input-available')[0]?.toolCallId);
      plain.socket.send({ type: 'tool_result', toolCallId, result });
      await plain.end();

      expect(plain.order).toEqual([
        'start',
        'tool-input-start',
        'tool-input-available',
        'tool-output-available',
        'text',
        'finish',
        '[DONE]',
      ]);
      expect(plain.chunks('tool-output-available')).toEqual([
        { type: 'tool-output-available', toolCallId, output: result },
      ]);
    },
  );
});

test.each(answerForms.filter(form => form !== 'message'))(
  'an answer that names no chat is meant for the last, as %s',
  async (form: AnswerForm) => {
    const plain = await Plain.open(served.meet());
    const messages = [{ role: 'user', content: 'Send $20 to Sam' }];
    plain.socket.send({ type: 'message', messages });
    const question = await plain.question();
    const answer = answerMessages(form, [], question, { approved: true });
    plain.socket.send({ type: 'message', messages: answer });
    await plain.end();

    expect(plain.order).toEqual([...asked, 'tool-output-available', 'text', 'finish', '[DONE]']);
    expect((await plain.api.wallet()).balance).toBe(980);
  },
);
