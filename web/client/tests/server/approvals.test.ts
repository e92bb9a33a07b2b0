/** Approvals from anywhere, on the real server. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../conformance/src/server/until.ts';
import { ApiError } from '../../src/api-error.ts';
import { type Approvals, approvals } from '../../src/approvals.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve();
let visitor: Visitor;
let store: Approvals;

beforeEach(async () => {
  visitor = await Visitor.come(server());
  store = approvals({
    api: `${visitor.network.url}/api/approvals`,
    headers: () => visitor.headers,
    pollMs: 5,
  });
});

afterEach(async () => {
  await visitor.leave();
});

test('are seen as soon as they are asked, and not after they are answered', async () => {
  const leave = store.subscribe(() => {});
  const chat = visitor.chat('elsewhere');
  await chat.say('Send $20 to Sam');
  const [asked] = await until('it is seen', () => {
    const { approvals } = store.get();
    return approvals.length > 0 && approvals;
  });
  expect(asked).toMatchObject({
    chatId: 'elsewhere',
    toolName: 'process_payment',
    input: { amount: 20, recipient: 'Sam' },
    question: expect.stringMatching(/20/),
    askedAt: expect.any(Number),
  });
  const answered = await store.answer(asked?.approvalId ?? '', { approved: true, reason: 'fine' });
  expect(answered).toMatchObject({ isOurs: true, decision: { approved: true, reason: 'fine' } });
  expect(store.get().approvals).toEqual([]);
  expect((await visitor.api.wallet()).payments).toHaveLength(1);
  leave();
});

test('can be given for another input', async () => {
  await visitor.chat('edited').say('Send $20 to Sam');
  await store.refresh();
  const [asked] = store.get().approvals;
  const input = { ...(asked?.input as object), amount: 5 };
  await store.answer(asked?.approvalId ?? '', { approved: true, input });
  const paid = await until('it is paid', async () => {
    const { payments } = await visitor.api.wallet();
    return payments.length > 0 && payments;
  });
  expect(paid).toMatchObject([{ amount: 5, recipient: 'Sam' }]);
});

test('an answer that comes too late gets the decision', async () => {
  await visitor.chat('late').say('Send $20 to Sam');
  await store.refresh();
  const id = store.get().approvals[0]?.approvalId ?? '';
  await visitor.api.answer(id, { approved: false, reason: 'not him' });
  expect(await store.answer(id, { approved: true })).toMatchObject({
    isOurs: false,
    decision: { approvalId: id, approved: false, reason: 'not him', decidedAt: expect.any(Number) },
  });
});

test('an answer to nothing is refused', async () => {
  const answered = store.answer('nothing', { approved: true });
  await expect(answered).rejects.toThrow(ApiError);
  await expect(answered).rejects.toMatchObject({ status: 404, code: 'unknown_approval' });
});
