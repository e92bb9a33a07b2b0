/** The routes besides the flows: what a response looks like, the second address, forgetting. */
import { describe, expect, test } from 'vitest';
import { chunksOf } from '../../src/event-stream.ts';
import { userMessage } from './forged.ts';
import { serve } from './served.ts';
import { expectValid } from './sound.ts';

const served = serve();

const weather = (id: string) => ({
  id,
  messages: [userMessage('m', 'What is the weather in Oslo?')],
  trigger: 'submit-message',
});

describe('a window', () => {
  test.each(['/api/chat', '/stream'])('has the official headers: %s', async path => {
    const api = served.meet();
    const response = await api.post(weather(`headers-${path.length}`), path);
    const chunks = chunksOf(await response.text());
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': expect.stringMatching(/no-cache/),
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-accel-buffering': 'no',
    });
    expect(chunks.at(0)?.type).toBe('start');
    expect(chunks.at(-1)?.type).toBe('finish');
  });
});

describe('a chat', () => {
  test('of messages with content and no ids is returned as the client takes it', async () => {
    const api = served.meet();
    const body = {
      id: 'nameless',
      messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
    };
    for (let times = 0; times < 2; times++) {
      const response = await api.post(body);
      expect(response.status).toBe(200);
      expect(chunksOf(await response.text()).at(-1)?.type).toBe('finish');
    }

    // The same body twice is one turn.
    const chat = await api.chat('nameless');
    expect(chat?.messages.map(message => message.role)).toEqual(['user', 'assistant']);
    await expectValid(chat?.messages ?? []);
  });

  test('is forgotten on request', async () => {
    const tab = served.open('7');
    await tab.say('Send $20 to Sam');
    const approvalId = tab.call('process_payment').approval?.id ?? '';
    await tab.api.forget(tab.id);

    expect(await tab.api.chat(tab.id)).toBeUndefined();
    expect(await tab.api.approvals()).toEqual([]);
    expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(404);
    expect((await tab.api.fetch(`/api/chat/${tab.id}/stream`)).status).toBe(204);
    expect((await tab.api.wallet()).payments).toEqual([]);
  });

  test('may have any id that a path can hold', async () => {
    const api = served.meet();
    const id = 'チャット 1: a+b@c';
    await (await api.post(weather(id))).text();
    expect((await api.chat(id))?.id).toBe(id);
    expect((await api.fetch(`/api/chat/${encodeURIComponent(id)}/stream`)).status).toBe(204);
  });

  test.each(['a/b', '50%', 'what?', '#1', '..', 'live'])('is not opened as %s', async id => {
    const response = await served.meet().post(weather(id));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_chat_id' } });
  });
});
