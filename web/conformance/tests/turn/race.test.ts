/** Two people answer one question at the same time, many times. */
import type { UIMessage } from 'ai-7';
import { describe, expect, test } from 'vitest';
import { isLongRun } from '../../src/cells.ts';
import { chunksOf } from '../../src/event-stream.ts';
import type { Api, Decision, Refusal } from '../../src/server/api.ts';
import { until } from '../../src/server/until.ts';
import { flow } from './flow.ts';
import { callIn, userMessage } from './forged.ts';
import { agent, serve } from './served.ts';

const served = serve();

const isBehind = /^(adk|ai-sdk|ag-ui)/.test(agent);

// A turn of an agent behind HTTP takes longer.
const races = isLongRun ? (isBehind ? 30 : 1000) : isBehind ? 10 : 60;

const racesWithPages = isLongRun ? (isBehind ? 30 : 100) : isBehind ? 10 : 20;

const sideBySide = 8;

/** The outcome of one race: which call it was about, and what was decided. */
type Race = { chatId: string; toolCallId: string; approved: boolean };

async function raceAll(
  count: number,
  race: (api: Api, chatId: string, yesFirst: boolean) => Promise<Race>,
): Promise<void> {
  const api = served.meet();
  const results: Race[] = [];
  let started = 0;
  const runner = async () => {
    while (started < count) {
      const number = started++;
      results.push(await race(api, served.server.newChat(), number % 2 === 0));
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, runner));
  expect(results).toHaveLength(count);

  for (const { chatId } of results) {
    await until(`${chatId} has ended`, async () => (await api.chat(chatId))?.status === 'finished');
  }
  const { payments, balance } = await api.wallet();
  const paid = payments.map(payment => payment.toolCallId).sort();
  const approved = results.filter(race => race.approved).map(race => race.toolCallId);
  expect(paid).toEqual(approved.sort());
  expect(balance).toBeCloseTo(1000 - 0.01 * approved.length, 6);
  expect(await api.approvals()).toEqual([]);
}

describe('of two contrary answers one wins, the other gets the decision, and money moves once or not at all', () => {
  // No page has a part in these.
  flow('http')('both from elsewhere', { timeout: 60_000 }, () => raceAll(races, answerTwice));

  test('one of them in a page', { timeout: 60_000 }, () => raceAll(racesWithPages, answerInAPage));

  test('both in pages', { timeout: 60_000 }, () => raceAll(racesWithPages, answerInPages));
});

type Question = { approvalId: string; toolCallId: string };

const prompt = userMessage('m-1', 'Send $0.01 to Sam');

async function ask(api: Api, chatId: string): Promise<Question> {
  const response = await api.ask({ id: chatId, messages: [prompt], trigger: 'submit-message' });
  const chunks = chunksOf(await response.text());
  const question = chunks.find(chunk => chunk.type === 'tool-approval-request');
  return {
    approvalId: String(question?.approvalId),
    toolCallId: String(question?.toolCallId),
  };
}

/** Answers as a page does, and returns whether the window that came contained a payment. */
async function answerInPage(
  api: Api,
  chatId: string,
  approvalId: string,
  messages: UIMessage[],
  approved: boolean,
): Promise<boolean> {
  const answered = structuredClone(messages);
  const part = callIn(answered, 'process_payment');
  part.state = 'approval-responded';
  part.approval = { id: approvalId, approved };
  const response = await api.ask({
    id: chatId,
    messages: answered,
    trigger: 'submit-message',
    messageId: answered.at(-1)?.id,
  });
  const body = await response.text();
  expect(response.status, body).toBe(200);
  const outputs = chunksOf(body).filter(chunk => chunk.type.startsWith('tool-output-'));
  expect(outputs, body).toHaveLength(1);
  return outputs[0]?.type === 'tool-output-available';
}

async function answerTwice(api: Api, chatId: string, yesFirst: boolean): Promise<Race> {
  const { approvalId, toolCallId } = await ask(api, chatId);
  const outcomes = await Promise.all(
    [yesFirst, !yesFirst].map(async approved => ({
      approved,
      ...(await api.answer(approvalId, { approved })),
    })),
  );
  const winner = outcomes.find(({ status }) => status === 200);
  const loser = outcomes.find(({ status }) => status === 409);
  expect([winner, loser], JSON.stringify(outcomes)).not.toContain(undefined);
  const decision = winner?.body as Decision;
  expect(decision).toMatchObject({ approvalId, approved: winner?.approved });
  const refusal = loser?.body as Refusal;
  expect(refusal.error.code).toBe('already_decided');
  expect(refusal.decision).toEqual(decision);
  return { chatId, toolCallId, approved: decision.approved };
}

async function answerInAPage(api: Api, chatId: string, yesFirst: boolean): Promise<Race> {
  const { approvalId, toolCallId } = await ask(api, chatId);
  const messages = (await api.chat(chatId))?.messages ?? [];
  const [wasPaid, elsewhere] = await Promise.all([
    answerInPage(api, chatId, approvalId, messages, yesFirst),
    api.answer(approvalId, { approved: !yesFirst }),
  ]);
  const decision =
    elsewhere.status === 200 ? (elsewhere.body as Decision) : (elsewhere.body as Refusal).decision;
  expect(decision?.approved, 'the page and the other get the same').toBe(wasPaid);
  expect(decision?.approved).toBe(elsewhere.status === 200 ? !yesFirst : yesFirst);
  return { chatId, toolCallId, approved: wasPaid };
}

async function answerInPages(api: Api, chatId: string, yesFirst: boolean): Promise<Race> {
  const { approvalId, toolCallId } = await ask(api, chatId);
  const messages = (await api.chat(chatId))?.messages ?? [];
  const [first, second] = await Promise.all([
    answerInPage(api, chatId, approvalId, messages, yesFirst),
    answerInPage(api, chatId, approvalId, messages, !yesFirst),
  ]);
  expect(first, 'both pages get the same').toBe(second);
  return { chatId, toolCallId, approved: first };
}
