/** A second client joins: it gets the whole message from its start, and then what happens. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { toolParts } from '../../src/tool-part.ts';
import { flow } from './flow.ts';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, known, outline } from './sound.ts';

// The long text takes twenty times as long for a word: four seconds.
const served = serve({ pace: 1 });

async function untilWordsCame(tab: Tab): Promise<void> {
  await until('some words have come', () => tab.text.split(' ').length > 3);
  expect(tab.page.isBusy, 'there are more to come').toBe(true);
}

flow('resume')('in the middle of a text, to its end, on both versions', async () => {
  const tabs = majors.map(major => served.open(major));
  for (const tab of tabs) {
    tab.begin('take your time');
  }
  await Promise.all(tabs.map(untilWordsCame));
  const others = await Promise.all(tabs.map(tab => served.reopen(tab)));
  await Promise.all(others.map(other => other.resume()));

  for (const [index, tab] of tabs.entries()) {
    const other = others[index] ?? tab;
    await expectSound(tab, { posts: 1 });
    await expectSound(other, { posts: 0 });
    expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
    expectLastWord(other, /word-200/);
    await expectServed(other);
  }
});

flow('resume').each(majors)('any number of readers see the same, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('take your time');
  await untilWordsCame(tab);
  const others = await Promise.all([1, 2, 3, 4, 5].map(() => served.reopen(tab)));
  const readers = others.map(other => other.resume());
  await until('all receive the same', () =>
    others.every(other => other.text.length > 100 && tab.text.startsWith(other.text)),
  );
  await tab.api.stop(tab.id);
  await Promise.all(readers);

  await expectSound(tab, { posts: 1 });
  for (const other of others) {
    await expectSound(other, { posts: 0 });
    expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
  }
});

flow('resume').each(majors)('after it was left by the same client, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('take your time');
  await untilWordsCame(tab);
  await tab.leave();
  const shown = tab.text;
  const resumed = tab.resume();
  await until('more words have come', () => tab.text.length > shown.length + 20);
  expect(tab.text.startsWith(shown)).toBe(true);
  await tab.api.stop(tab.id);
  await resumed;

  // The text that broke off was begun again.
  await expectSound(tab, { posts: 1 });
  expectLastWord(tab);
  await expectServed(tab, 'stopped');
});

flow('resume').each(majors)(
  'a turn that ends after the page was loaded, on version %s',
  async major => {
    const tab = served.open(major);
    tab.begin('take your time');
    await untilWordsCame(tab);
    const other = await served.reopen(tab, { knowsPlace: true });
    await tab.api.stop(tab.id);
    await tab.quiet();
    await other.resume();

    await expectSound(other, { posts: 0 });
    expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
    await expectServed(other, 'stopped');
  },
);

flow('resume').each(majors)('in the middle of a tool, on version %s', async major => {
  const tab = served.open(major);
  tab.begin('first the weather in Tokyo, then pay Ann $5');
  await until('a call is shown', () => tab.messages.flatMap(toolParts).length > 0);
  const other = await served.reopen(tab);
  await other.resume();
  await tab.quiet();
  expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
  await other.approve(other.call('process_payment'));

  await expectSound(tab, { posts: 1 });
  await expectSound(other, { posts: 1 });
  expect(outline(other.messages)).toEqual([
    ['get_weather: output-available', 'process_payment: output-available'],
  ]);
  expectLastWord(other);
  await expectServed(other);
  await expectPaid(tab, [{ amount: 5, recipient: 'Ann' }]);
});

flow('asking-tool').each(majors)('while a tool waits for a page, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Set the mood for Tokyo');
  const other = await served.reopen(tab, { tools: pageTools });
  await other.resume();

  await expectSound(tab, { posts: 1 });
  await expectSound(other, { posts: 1 });
  expect(other.ran).toMatchObject([{ toolName: 'change_bgm' }]);
  expect(outline(other.messages)).toEqual([
    ['set_mood: output-available', 'change_bgm: output-available'],
  ]);
  expectLastWord(other);
  await expectServed(other);
});

test.each(majors)('while a question is open, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const other = await served.reopen(tab);
  await other.resume();
  expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
  await other.approve(other.call('process_payment'));

  await expectSound(other, { posts: 1 });
  expectLastWord(other);
  await expectServed(other);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);

  // The first client does not know of it; its answer is the same and comes too late.
  await tab.approve(tab.call('process_payment'));
  await expectSound(tab, { posts: 2 });
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

flow('asking-tool').each(majors)('between two questions of a tool, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a flight to Oslo');
  await tab.approve(tab.call('book_flight'));
  const other = await served.reopen(tab);
  await other.resume();
  expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
  await other.approve(other.call('book_flight'));

  await expectSound(tab, { posts: 2 });
  await expectSound(other, { posts: 1 });
  expect(outline(other.messages)).toEqual([['book_flight: output-available']]);
  expectLastWord(other);
  await expectServed(other);
  expect((await tab.api.wallet()).balance).toBe(880);
});

flow('parallel-questions', 'partial-answers').each(majors)(
  'when some questions are settled and one is open, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Pay Ann $1, Ben $2 and Cy $3');
    const [ann, ben] = tab.calls('process_payment');
    await tab.api.answer(ann?.approval?.id ?? '', { approved: true });
    await tab.api.answer(ben?.approval?.id ?? '', { approved: false, reason: 'not him' });
    await until('Ann is paid', async () => (await tab.api.wallet()).payments.length === 1);

    const other = await served.reopen(tab);
    await other.resume();
    // Clients that know no answer of the server's get a denial as an error.
    expect(outline(other.messages)).toEqual([
      [
        'process_payment: output-available',
        expect.stringMatching(/^process_payment: output-(denied|error)$/),
        'process_payment: approval-requested',
      ],
    ]);
    await other.approve(other.calls('process_payment')[2] ?? other.call('no third payment'));

    await expectSound(other, { posts: 1 });
    expectLastWord(other, /not him/);
    const chat = await tab.api.chat(tab.id);
    expect(outline(chat?.messages ?? [])).toEqual([
      [
        'process_payment: output-available',
        'process_payment: output-denied',
        'process_payment: output-available',
      ],
    ]);
    await expectPaid(tab, [
      { amount: 1, recipient: 'Ann' },
      { amount: 3, recipient: 'Cy' },
    ]);
  },
);

test.each(majors)(
  'there is nothing to resume once the turn has ended, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('What is the weather in Oslo?');
    const other = await served.reopen(tab, { knowsPlace: true });
    await other.resume();

    expect(other.connection.nothingToResume).toBe(1);
    await expectSound(other, { posts: 0 });
    expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
  },
);

test.each(majors)(
  'there is nothing to resume where there is no chat, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.resume();

    expect(tab.connection.nothingToResume).toBe(1);
    await expectSound(tab, { posts: 0 });
  },
);
