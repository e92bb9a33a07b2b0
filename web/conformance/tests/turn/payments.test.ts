/** Several questions, in one window or one after the other, answered in every combination and in every way. */
import { describe, expect } from 'vitest';
import { isLongRun } from '../../src/cells.ts';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { flow } from './flow.ts';
import { serve, transport } from './served.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  outline,
  servedAs,
} from './sound.ts';

const served = serve();

const everybody = [
  { amount: 1, recipient: 'Ann' },
  { amount: 2, recipient: 'Ben' },
  { amount: 3, recipient: 'Cy' },
];

const prompts: Record<number, string> = {
  2: 'Pay Ann $1 and Ben $2',
  3: 'Pay Ann $1, Ben $2 and Cy $3',
};

/** Every way to approve or deny this many questions. */
function combinations(count: number): boolean[][] {
  return count === 0
    ? [[]]
    : combinations(count - 1).flatMap(rest => [
        [true, ...rest],
        [false, ...rest],
      ]);
}

/** Of three questions a short run answers the first and the last alike, and the one between them otherwise. */
const isPlayed = (answers: boolean[]) =>
  isLongRun || answers.length < 3 || (answers[0] === answers[2] && answers[0] !== answers[1]);

const cases = [2, 3].flatMap(count =>
  combinations(count)
    .filter(isPlayed)
    .flatMap(answers =>
      majors.map(major => ({
        major,
        prompt: prompts[count] ?? '',
        answers,
        said: answers.map(approved => (approved ? 'yes' : 'no')).join(', '),
        states: answers.map(
          approved => `process_payment: output-${approved ? 'available' : 'denied'}`,
        ),
        paid: everybody.filter((_, index) => answers[index] === true),
      })),
    ),
);

describe.each(cases)('$said, on version $major', ({ major, prompt, answers, states, paid }) => {
  flow('parallel-questions')('answered together', async () => {
    const tab = served.open(major);
    await tab.say(prompt);
    expect(outline(tab.messages)).toEqual([
      answers.map(() => 'process_payment: approval-requested'),
    ]);
    tab.calls('process_payment').forEach((part, index) => {
      tab.answer(part, answers[index] === true);
    });

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([states]);
    expectLastWord(tab);
    await expectServed(tab);
    await expectPaid(tab, paid);
  });

  flow('parallel-questions', 'partial-answers')(
    'answered one by one in the page, each answer sent at once',
    async () => {
      const tab = served.open(major);
      await tab.say(prompt);
      const questions = tab.calls('process_payment');
      for (const [index, part] of questions.entries()) {
        tab.answer(part, answers[index] === true);
        // The last answer makes the message complete, and the client sends it by itself.
        if (index + 1 < questions.length) {
          await tab.sendAnswers();
          expect(outline(tab.messages)[0]?.slice(0, index + 1)).toEqual(states.slice(0, index + 1));
        }
      }

      await expectSound(tab, { posts: 1 + answers.length });
      expect(outline(tab.messages)).toEqual([states]);
      expectLastWord(tab);
      await expectServed(tab);
      await expectPaid(tab, paid);
    },
  );

  flow('sequential-questions')('answered as they are asked', async () => {
    const tab = served.open(major);
    await tab.say(prompt);
    for (const [index, approved] of answers.entries()) {
      expect(outline(tab.messages)).toEqual([
        [...states.slice(0, index), 'process_payment: approval-requested'],
      ]);
      const question = tab.calls('process_payment')[index] ?? tab.call('no such payment');
      await (approved ? tab.approve(question) : tab.deny(question));
    }

    await expectSound(tab, { posts: 1 + answers.length });
    expect(outline(tab.messages)).toEqual([states]);
    expectLastWord(tab);
    await expectServed(tab);
    await expectPaid(tab, paid);
  });

  flow('sequential-questions')('answered elsewhere as they are asked', async () => {
    const tab = served.open(major);
    await tab.say(prompt);
    const first = tab.call('process_payment');
    for (const approved of answers) {
      const question = await until('the next question is asked', async () => {
        return (await tab.api.approvals())[0];
      });
      const { status } = await tab.api.answer(question.approvalId, { approved });
      expect(status).toBe(200);
    }
    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([states]);
    await expectPaid(tab, paid);

    // The page still shows the first question, and the person answers it as it was answered.
    tab.answer(first, answers[0] === true);
    // Nobody answered the later questions here, and no chunk of the shared profile says who did.
    await expectSound(tab, { posts: 2 });
    expect(tab.calls('process_payment')).toHaveLength(answers.length);
    // In the legacy dialect the page got a denial at once, as an error.
    const expected = transport === 'legacy' ? states[0]?.replace('denied', 'error') : states[0];
    expect(outline(tab.messages)[0]?.[0]).toBe(expected);
    expect(tab.text).toBe(textOf(chat.messages.at(-1)));
    await expectPaid(tab, paid);
  });

  flow('parallel-questions', 'partial-answers')(
    'answered one by one from elsewhere, and then in the page once more',
    async () => {
      const tab = served.open(major);
      await tab.say(prompt);
      const questions = tab.calls('process_payment');
      // Backwards: the order of the answers is not that of the questions.
      for (const [index, part] of [...questions.entries()].reverse()) {
        const approved = answers[index] === true;
        const approvalId = part.approval?.id ?? '';
        const { status, body } = await tab.api.answer(approvalId, { approved });
        expect({ status, body }).toMatchObject({ status: 200, body: { approvalId, approved } });
        await until('an approved payment is made without waiting for the others', async () => {
          const { payments } = await tab.api.wallet();
          return payments.some(({ toolCallId }) => toolCallId === part.toolCallId) === approved;
        });
        expect(await tab.api.approvals()).toHaveLength(index);
      }
      const chat = await servedAs(tab, 'finished');
      expect(outline(chat.messages)).toEqual([states]);
      expect(textOf(chat.messages.at(-1))).toMatch(/\S/);
      await expectSound(tab, { posts: 1 });
      await expectPaid(tab, paid);

      questions.forEach((part, index) => {
        tab.answer(part, answers[index] === true);
      });
      await expectSound(tab, { posts: 2 });
      await expectServed(tab);
      await expectPaid(tab, paid);
    },
  );
});
