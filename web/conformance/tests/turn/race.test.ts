/** Two people answer one question at the same time, a thousand times. */
import { describe, expect, test } from 'vitest';
import { chunksOf } from '../../src/event-stream.ts';
import { Api, type Decision, type Refusal } from '../../src/server/api.ts';
import { until } from '../../src/server/until.ts';
import { serve } from './served.ts';

const served = serve();

const races = 1000;

const sideBySide = 8;

type Race = { chatId: string; toolCallId: string; approved: boolean };

describe('two contrary answers', () => {
  test('one wins, the other is told, and money moves once or not at all', {
    timeout: 60_000,
  }, async () => {
    const { server } = served;
    const api = new Api(() => server.url, server.newPrincipal());
    const results: Race[] = [];
    let started = 0;
    const runner = async () => {
      while (started < races) {
        const number = started++;
        results.push(await race(api, `race-${number}`, number % 2 === 0));
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, runner));
    expect(results).toHaveLength(races);

    for (const { chatId } of results) {
      await until(
        `${chatId} has ended`,
        async () => (await api.chat(chatId))?.status === 'finished',
      );
    }
    const { payments, balance } = await api.wallet();
    const paid = payments.map(payment => payment.toolCallId).sort();
    const approved = results.filter(race => race.approved).map(race => race.toolCallId);
    expect(paid).toEqual(approved.sort());
    expect(balance).toBeCloseTo(1000 - 0.01 * approved.length, 6);
    expect(await api.approvals()).toEqual([]);
  });
});

async function race(api: Api, chatId: string, yesFirst: boolean): Promise<Race> {
  const response = await api.post({
    id: chatId,
    messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Send $0.01 to Sam' }] }],
    trigger: 'submit-message',
  });
  const body = await response.text();
  const question = chunksOf(body).find(chunk => chunk.type === 'tool-approval-request');
  const approvalId = String(question?.approvalId);
  const answers = yesFirst ? [true, false] : [false, true];
  const outcomes = await Promise.all(
    answers.map(async approved => ({ approved, ...(await api.answer(approvalId, { approved })) })),
  );
  const winner = outcomes.find(({ status }) => status === 200);
  const loser = outcomes.find(({ status }) => status === 409);
  expect([winner, loser], JSON.stringify(outcomes)).not.toContain(undefined);
  const decision = winner?.body as Decision;
  expect(decision).toMatchObject({ approvalId, approved: winner?.approved });
  const refusal = loser?.body as Refusal;
  expect(refusal.error.code).toBe('already_decided');
  expect(refusal.decision).toEqual(decision);
  return { chatId, toolCallId: String(question?.toolCallId), approved: decision.approved };
}
