/** A person who says something else instead of answering. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { shown } from '../../src/server/shown.ts';
import { type Tab, textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { can, cell, flow } from './flow.ts';
import { pageTools } from './page-tools.ts';
import { serve, transport } from './served.ts';
import { expectLastWord, expectPaid, expectSound, expectValid, known, outline } from './sound.ts';

const served = serve({ pace: 1 });

async function typeOver(tab: Tab, prompt: string): Promise<void> {
  await tab.say(prompt);
  await tab.say('What is the weather in Oslo?');
}

test.each(majors)('the old question is denied, the new turn starts, on version %s', async major => {
  const tab = served.open(major);
  await typeOver(tab, 'Send $20 to Sam');

  await expectSound(tab, { posts: 2 });
  // The page got nothing about its old message: a client throws at that.
  expect(outline(tab.messages)).toEqual([
    ['process_payment: approval-requested'],
    ['get_weather: output-available'],
  ]);
  expect(tab.windows[1]?.text).not.toContain(tab.call('process_payment').toolCallId);
  expect(tab.windows[1]?.text).not.toContain(tab.messages[1]?.id);
  expectLastWord(tab, /Oslo/);

  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('finished');
  expect(outline(chat?.messages ?? [])).toEqual([
    ['process_payment: output-denied'],
    ['get_weather: output-available'],
  ]);
  await expectValid(chat?.messages ?? []);
  expect(await tab.api.approvals()).toEqual([]);
  await expectPaid(tab, []);
});

test.each(majors)('an answer to the old question gets the decision, on version %s', async major => {
  const tab = served.open(major);
  await typeOver(tab, 'Send $20 to Sam');
  const approvalId = tab.call('process_payment').approval?.id ?? '';

  expect(await tab.api.answer(approvalId, { approved: true })).toMatchObject({
    status: 409,
    body: { error: { code: 'already_decided' }, decision: { approvalId } },
  });
  await expectPaid(tab, []);
});

test.each(majors)(
  'an answer in the page runs nothing and hinders nothing, on version %s',
  async major => {
    const tab = served.open(major);
    await typeOver(tab, 'Send $20 to Sam');
    // The client keeps an answer to an older message, and sends it along with what comes next.
    await tab.approve(tab.call('process_payment'));
    expect(tab.posts).toBe(transport === 'legacy' ? 3 : 2);
    await tab.say('What is the weather in Tokyo?');

    await expectSound(tab, { posts: 3 });
    expectLastWord(tab, /Tokyo/);
    await expectPaid(tab, []);
  },
);

flow('parallel-questions').each(majors)(
  'answers that were given go along with the new message, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Pay Ann $1 and Ben $2');
    const [first] = tab.calls('process_payment');
    await tab.approve(first ?? tab.call('no payment'));
    expect(tab.posts).toBe(transport === 'legacy' ? 2 : 1);
    await tab.say('What is the weather in Oslo?');

    await expectSound(tab, { posts: 2 });
    expectLastWord(tab, /Oslo/);
    const chat = await tab.api.chat(tab.id);
    const [calls] = outline(chat?.messages ?? []);
    await expectValid(chat?.messages ?? []);
    // Answers first, then the message, which supersedes what is still open. An agent that takes the answers
    // of a step all together is not given the one: the call was approved, and did not run. A page that
    // sends its last message alone has sent no answer.
    const isSent = cell.sends !== 'last-message';
    const isGiven = isSent && can('partial-answers');
    const state = isGiven ? 'available' : isSent ? 'error' : 'denied';
    expect(calls).toEqual([`process_payment: output-${state}`, 'process_payment: output-denied']);
    await expectPaid(tab, isGiven ? [{ amount: 1, recipient: 'Ann' }] : []);
  },
);

test.each(majors)(
  'a client tool that waits for its answer is never run, on version %s',
  async major => {
    const tab = served.open(major, { tools: pageTools });
    await typeOver(tab, 'Where am I?');

    await expectSound(tab, { posts: 2 });
    expect(tab.ran).toEqual([]);
    expectLastWord(tab, /Oslo/);
    const chat = await tab.api.chat(tab.id);
    expect(outline(chat?.messages ?? [])[0]).toEqual(['get_location: output-denied']);
    await expectValid(chat?.messages ?? []);
  },
);

test.each(majors)('a client tool that no page ran is given up, on version %s', async major => {
  const tab = served.open(major);
  await typeOver(tab, 'play track 1');

  await expectSound(tab, { posts: 2 });
  expectLastWord(tab, /Oslo/);
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('finished');
  expect(outline(chat?.messages ?? [])[0]).toEqual(['change_bgm: output-error']);
  await expectValid(chat?.messages ?? []);
});

flow('asking-tool').each(majors)(
  'a tool that asks in the middle of its work is ended, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Book a flight to Oslo');
    await tab.approve(tab.call('book_flight'));
    await tab.say('What is the weather in Tokyo?');

    await expectSound(tab, { posts: 3 });
    expectLastWord(tab, /Tokyo/);
    const chat = await tab.api.chat(tab.id);
    expect(outline(chat?.messages ?? [])[0]).toEqual(['book_flight: output-denied']);
    await expectValid(chat?.messages ?? []);
    await expectPaid(tab, []);
  },
);

test.each(majors)(
  'the answer is sent by hand, and gets what was decided, on version %s',
  async major => {
    const tab = served.open(major);
    await typeOver(tab, 'Send $20 to Sam');
    const answer = shown(tab.messages.slice(2));
    tab.answer(tab.call('process_payment'), true);
    // The client sends it about the older message, and continues with that one.
    await tab.sendAnswers();

    if (can('message-id')) {
      expect(tab.connection.posts[2]?.messageId).toBe(tab.messages[1]?.id);
    }
    await expectSound(tab, { posts: 3 });
    expect(shown(tab.messages.slice(2)), 'the newer messages').toEqual(answer);
    expect(outline(tab.messages)[0]?.[0]).toMatch(/^process_payment: output-(denied|error)$/);
    await expectPaid(tab, []);
  },
);

test.each(majors)('a text that is being said is broken off, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('take your time');
  await until('some words have come', () => tab.text.split(' ').length > 3);
  const other = await served.reopen(tab);
  await other.say('What is the weather in Tokyo?');

  await expectSound(tab, { posts: 1 });
  expect(tab.page.isBusy).toBe(false);
  // The other tab has not followed the text that it broke off.
  await expectSound(other, { posts: 1, tolerated: ['unfinished'] });
  expectLastWord(other, /Tokyo/);
  const chat = await tab.api.chat(tab.id);
  expect(known(chat?.messages.slice(0, 2) ?? [], tab)).toEqual(known(tab.messages, tab));
  await expectValid(chat?.messages ?? []);
});

// A model may get the two messages as one, and then calls for both.
flow('several-calls').each(majors)(
  'two tabs speak at once, and both are answered, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Good morning!');
    const other = await served.reopen(tab);
    tab.begin('What is the weather in Oslo?');
    other.begin('What is the weather in Tokyo?');

    await expectSound(tab, { posts: 2 });
    await expectSound(other, { posts: 1 });
    const chat = await tab.api.chat(tab.id);
    expect(chat?.status).toBe('finished');
    const said = chat?.messages.filter(message => message.role === 'user').map(textOf);
    expect(said?.[0]).toBe('Good morning!');
    expect(said?.slice(1).sort()).toEqual([
      'What is the weather in Oslo?',
      'What is the weather in Tokyo?',
    ]);
    await expectValid(chat?.messages ?? []);
  },
);
