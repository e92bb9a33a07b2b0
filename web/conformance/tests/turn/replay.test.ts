/** The same bytes twice: a page, or whatever is between, that tries again does nothing twice. */
import { expect, test } from 'vitest';
import { chunksOf } from '../../src/event-stream.ts';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

const field = (body: string, type: string, name: string) =>
  chunksOf(body)
    .filter(chunk => chunk.type === type)
    .map(chunk => chunk[name]);

test.each(majors)('a message opens one turn and asks one question, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const [post] = tab.connection.posts;
  const again = await tab.api.ask(post ?? {});
  const body = await again.text();
  expect(again.status, body).toBe(200);
  const first = tab.windows[0]?.text ?? '';
  for (const [type, name] of [
    ['start', 'messageId'],
    ['tool-approval-request', 'approvalId'],
  ] as const) {
    expect(field(body, type, name)).toEqual(field(first, type, name));
  }
  expect(await tab.api.approvals()).toHaveLength(1);
  expect((await tab.api.chat(tab.id))?.messages).toHaveLength(2);
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)('at the same time, on version %s', async major => {
  const tab = served.open(major);
  const body = {
    id: tab.id,
    messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Send $20 to Sam' }] }],
    trigger: 'submit-message',
  };
  const responses = await Promise.all([1, 2, 3, 4].map(() => tab.api.ask(body)));
  const bodies = await Promise.all(responses.map(response => response.text()));
  expect(responses.map(response => response.status)).toEqual([200, 200, 200, 200]);
  const questions = bodies.flatMap(text => field(text, 'tool-approval-request', 'approvalId'));
  expect(questions).toHaveLength(4);
  expect(new Set(questions).size).toBe(1);
  expect(await tab.api.approvals()).toHaveLength(1);
  expect((await tab.api.chat(tab.id))?.messages).toHaveLength(2);
});

test.each(majors)('an answer counts once, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  const before = await tab.api.chat(tab.id);
  const again = await tab.api.ask(tab.connection.posts[1] ?? {});
  const body = await again.text();
  expect(again.status, body).toBe(200);
  expect(field(body, 'tool-output-available', 'toolCallId')).toEqual([
    tab.call('process_payment').toolCallId,
  ]);
  expect(
    chunksOf(body)
      .flatMap(chunk => (chunk.type === 'text-delta' ? [chunk.delta] : []))
      .join(''),
  ).toBe(tab.text);

  expect(await tab.api.chat(tab.id)).toEqual(before);
  await expectSound(tab, { posts: 2 });
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)(
  'a message that was answered is not answered again, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('What is the weather in Oslo?');
    const before = await tab.api.chat(tab.id);
    const again = await tab.api.ask(tab.connection.posts[0] ?? {});
    const body = await again.text();
    expect(again.status, body).toBe(200);
    expect(field(body, 'start', 'messageId')).toEqual([tab.messages[1]?.id]);
    expect(await tab.api.chat(tab.id)).toEqual(before);

    await tab.say('What is the weather in Tokyo?');
    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toHaveLength(2);
    expectLastWord(tab, /Tokyo/);
    await expectServed(tab);
  },
);
