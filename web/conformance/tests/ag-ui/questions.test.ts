/** A question that asks for data is an interrupt with its schema, and the payload is the data. */
import { expect, test } from 'vitest';
import { agUiVersions } from '../../src/ag-ui-page.ts';
import { serve } from '../turn/served.ts';
import { open } from './pages.ts';

const served = serve({ approvalTimeout: 600, store: 'sqlite' });

const table = { date: '2026-12-24', time: '19:00', people: 4, contact: { name: 'Ann' } };

test.each(agUiVersions)('the data that was asked for is the answer, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a table');
  expect(page.errors).toEqual([]);
  const call = page.interrupts[0]?.toolCallId;
  expect(page.interrupts).toEqual([
    {
      id: expect.stringMatching(/^gate_/),
      reason: 'input_required',
      message: 'When, and for how many?',
      toolCallId: expect.stringMatching(/^call_/),
      responseSchema: expect.objectContaining({
        required: expect.arrayContaining(['date', 'people']),
      }),
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      metadata: {
        toolCallId: expect.stringMatching(/^call_/),
        toolName: 'ask_user',
        input: { question: 'When, and for how many?', schema: page.interrupts[0]?.responseSchema },
        editable: false,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
  ]);
  expect(page.calls, 'no page is to run it').toEqual({ '0: book_table': undefined });
  const [made] = page.messages.flatMap(({ toolCalls = [] }) => toolCalls);
  expect(call, 'it is about the call that asks').toBe(made?.id);

  await page.answer(table);
  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual({ type: 'success' });
  expect(Object.keys(page.calls)).toEqual(['0: book_table', '1: ask_user']);
  const [booked, asked] = Object.values(page.calls);
  expect(JSON.parse(booked ?? '')).toMatchObject(table);
  expect(JSON.parse(asked ?? '')).toEqual(table);
  expect(page.text).toMatch(/2026-12-24/);
});

test.each(agUiVersions)(
  'data that does not fit is refused with its fields, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Book a table');
    const { interrupts } = page;
    await page.answer({ ...table, people: 'four', wine: true });
    expect(page.errors).toMatchObject([
      {
        payload: {
          error: {
            code: 'invalid_answer',
            fields: expect.arrayContaining([expect.objectContaining({ path: '/people' })]),
          },
        },
      },
    ]);
    expect(await page.api.approvals(), 'it is still open').toHaveLength(1);

    page.dismissErrors();
    const other = open(served, version, page);
    await other.load();
    expect(other.interrupts).toEqual(interrupts);
    await other.answer(table);
    expect(other.errors).toEqual([]);
    expect(other.text).toMatch(/2026-12-24/);
  },
);

test.each(agUiVersions)('what is cancelled is declined, with its reason, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a table');
  await page.cancel('not today');

  expect(page.errors).toEqual([]);
  expect(page.interrupts).toEqual([]);
  expect(page.calls).toMatchObject({ '1: ask_user': 'Declined: not today' });
  expect(page.text).toMatch(/not today/);
});

test.each(agUiVersions)('an answer to something else is refused, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a table');
  const [interrupt] = page.interrupts;
  const resume = [
    {
      interruptId: interrupt?.id ?? '',
      status: 'resolved' as const,
      payload: table,
      metadata: { digest: '0'.repeat(64) },
    },
  ];
  await page.run({ resume });
  expect(page.errors).toMatchObject([{ payload: { error: { code: 'approval_changed' } } }]);
  expect(await page.api.approvals()).toHaveLength(1);
});

test.each(agUiVersions)('it is answered elsewhere, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a table');
  const id = page.interrupts[0]?.id ?? '';
  const response = await page.api.post({ answer: table }, `/api/approvals/${id}`);
  expect(response.status).toBe(200);

  // Its own answer is late, and it is shown what was decided.
  await page.answer({ ...table, people: 2 });
  expect(page.errors).toEqual([]);
  expect(JSON.parse(page.calls['1: ask_user'] ?? '')).toEqual(table);
  expect(page.text).toMatch(/2026-12-24/);
});

test.each(agUiVersions)('it is answered after its server was killed, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a table');
  await served.server.crash();
  await page.answer(table);

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/2026-12-24/);
});
