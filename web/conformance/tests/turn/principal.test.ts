/** A chat belongs to who opened it; to anybody else it does not exist. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { Api } from '../../src/server/api.ts';
import { flows } from './flow.ts';
import { callIn, continuation, expectRefused, userMessage } from './forged.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound } from './sound.ts';

const served = serve();

test.each(majors)('nobody else sees or answers a question, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';
  const before = await tab.api.chat(tab.id);
  const stranger = served.meet();

  expect(await stranger.approvals()).toEqual([]);
  for (const approved of [true, false]) {
    expect(await stranger.answer(approvalId, { approved })).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_approval' } },
    });
  }
  expect(await stranger.chat(tab.id)).toBeUndefined();
  expect((await stranger.fetch(`/api/chat/${tab.id}/stream`)).status).toBe(204);
  for (const [method, path] of [
    ['POST', `/api/chat/${tab.id}/stop`],
    ['DELETE', `/api/chat/${tab.id}`],
  ] as const) {
    await expectRefused(await stranger.fetch(path, { method }), {
      status: 404,
      codes: ['unknown_chat'],
    });
  }
  const answered = continuation(tab, messages => {
    Object.assign(callIn(messages, 'process_payment'), {
      state: 'approval-responded',
      approval: { id: approvalId, approved: true },
    });
  });
  await expectRefused(await stranger.ask(answered), { status: 404, codes: ['unknown_chat'] });
  const said = { ...answered, messages: [userMessage('theirs', 'What is the weather in Oslo?')] };
  delete said.messageId;
  await expectRefused(await stranger.ask(said), { status: 404, codes: ['unknown_chat'] });
  // In a chat of their own they know nothing of this call either.
  await expectRefused(await stranger.ask({ ...answered, id: `${tab.id}-theirs` }), {
    codes: ['unknown_call', 'unknown_approval'],
  });

  expect(await tab.api.chat(tab.id)).toEqual(before);
  expect((await stranger.wallet()).payments).toEqual([]);
  await expectPaid(tab, []);
  await tab.approve(tab.call('process_payment'));
  await expectSound(tab, { posts: 2 });
  expectLastWord(tab);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

// A socket is refused at its handshake, which the tests in Rust see.
flows('http')('without a key', () => {
  test.each([
    ['none', undefined],
    ['an unknown one', { name: 'nobody', key: 'secret-of-nobody' }],
  ])('nothing is served: %s', async (_, principal) => {
    const { server } = served;
    const api = new Api(() => server.url, principal);
    const post = await api.post({
      id: 'c',
      messages: [userMessage('m', 'What is the weather in Oslo?')],
      trigger: 'submit-message',
    });
    expect(post.status).toBe(401);
    expect((await post.json()).error.code).toMatch(/\S/);
    for (const path of ['/api/approvals', '/api/wallet', '/api/chat/c', '/api/chat/c/stream']) {
      const response = await api.fetch(path);
      await response.arrayBuffer();
      expect(response.status, path).toBe(401);
    }
  });

  test('a key may come in a header of its own', async () => {
    const { server } = served;
    const principal = server.newPrincipal();
    const response = await fetch(new URL('/api/approvals', server.url), {
      headers: { 'x-api-key': principal?.key ?? '' },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ approvals: [] });
  });
});
