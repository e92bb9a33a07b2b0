/** A request that makes no sense gets a status, a code and a reason, before any stream. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { flows } from './flow.ts';
import { expectRefused, userMessage } from './forged.ts';
import { serve, transport } from './served.ts';

const served = serve();

const hello = userMessage('m', 'hello');

const bodies: [name: string, body: unknown, path: RegExp][] = [
  ['no JSON', '{"id":', /./],
  ['no object', [], /./],
  ['no chat', { messages: [hello], trigger: 'submit-message' }, /id/],
  ['no messages', { id: 'c', trigger: 'submit-message' }, /messages/],
  [
    'a message without a role',
    { id: 'c', messages: [{ id: 'm', parts: [] }], trigger: 'submit-message' },
    /messages\[0\]/,
  ],
  [
    'a text that is a number',
    {
      id: 'c',
      messages: [hello, { id: 'n', role: 'user', parts: [{ type: 'text', text: 5 }] }],
      trigger: 'submit-message',
    },
    /messages\[1\]\.parts\[0\]/,
  ],
];

// What is no request at all, or too large for one, ends a socket: the tests in Rust see to that.
flows('http')('a body', () => {
  test.each(bodies)('with %s', async (_, body, path) => {
    const api = served.meet();
    const response = await api.post(body);
    expect(response.status).toBe(400);
    const { error } = await response.json();
    expect(error).toEqual({
      code: 'bad_request',
      message: expect.stringMatching(path),
      requestId: response.headers.get('x-request-id'),
    });
    expect(await api.chat('c')).toBeUndefined();
  });

  test('that is too large', async () => {
    const api = served.meet();
    const large = userMessage('m', 'x'.repeat(64 * 1024 * 1024));
    await expectRefused(await api.post({ id: 'c', messages: [large], trigger: 'submit-message' }), {
      status: 413,
      codes: ['too_large'],
    });
  });
});

test.each(majors)('the page shows why, on version %s', async major => {
  const tab = served.open(major);
  const other = served.open(major, { id: tab.id });
  await tab.say('What is the weather in Oslo?');
  await other.say('What is the weather in Oslo?');

  expect(other.posts).toBe(1);
  expect(other.page.error?.message).toMatch(/unknown_chat/);
  expect(other.connection.refusals).toMatchObject([
    {
      ...(transport === 'sse' && { status: 404 }),
      body: { error: { code: 'unknown_chat' } },
    },
  ]);
});

flows('http')('an answer', () => {
  test('to a question that nobody asked', async () => {
    const api = served.meet();
    expect(await api.answer('approval-invented', { approved: true })).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_approval' } },
    });
  });

  test.each([{}, { approved: 'yes' }, []])('that is none: %j', async answer => {
    const tab = served.open('7');
    await tab.say('Send $20 to Sam');
    const approvalId = tab.call('process_payment').approval?.id ?? '';
    const response = await tab.api.fetch(`/api/approvals/${approvalId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answer),
    });
    await expectRefused(response, { status: 400, codes: ['bad_request'] });
    expect(await tab.api.approvals()).toHaveLength(1);
  });
});
