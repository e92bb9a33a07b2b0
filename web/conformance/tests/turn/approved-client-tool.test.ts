/** A tool that the page runs only when a person allowed it: announced no sooner than that. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { toolParts } from '../../src/tool-part.ts';
import { pageTools, place } from './page-tools.ts';
import { serve } from './served.ts';
import {
  expectLastWord,
  expectServed,
  expectSound,
  expectValid,
  outline,
  servedAs,
} from './sound.ts';

const served = serve();

test.each(majors)('it never runs before the answer, on version %s', async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('Where am I?');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([['get_location: approval-requested']]);
  expect(tab.call('get_location').input).toEqual({});
  expect(tab.ran).toEqual([]);
  await expectServed(tab, 'parked');
});

test.each(majors)('approved, it runs once, on version %s', async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('Where am I?');
  await tab.approve(tab.call('get_location'));

  await expectSound(tab, { posts: 3 });
  expect(tab.ran).toMatchObject([{ toolName: 'get_location', input: {} }]);
  expect(outline(tab.messages)).toEqual([['get_location: output-available']]);
  expect(tab.call('get_location')).toMatchObject({ output: place });
  // ADK's own call is the one that was approved, and has the page's made.
  const parts = tab.messages.flatMap(toolParts);
  expect(parts.filter(part => part.approval?.approved === true)).toHaveLength(1);
  expectLastWord(tab, /Oslo|59\.91/);
  await expectServed(tab);
});

test.each(majors)('denied, it never runs, on version %s', async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('Where am I?');
  await tab.deny(tab.call('get_location'), 'that is private');

  await expectSound(tab, { posts: 2 });
  expect(tab.ran).toEqual([]);
  expect(outline(tab.messages)).toEqual([['get_location: output-denied']]);
  expectLastWord(tab, /that is private/);
  await expectServed(tab);
});

test.each(majors)('approved, and the page fails, on version %s', async major => {
  const tab = served.open(major, {
    tools: { get_location: () => ({ errorText: 'no signal' }) },
  });
  await tab.say('現在地を教えて');
  await tab.approve(tab.call('get_location'));

  await expectSound(tab, { posts: 3 });
  expect(tab.call('get_location')).toMatchObject({ state: 'output-error', errorText: 'no signal' });
  expectLastWord(tab);
  await expectServed(tab);
});

test.each(majors)(
  'approved elsewhere, a page that comes back runs it, on version %s',
  async major => {
    const tab = served.open(major, { tools: pageTools });
    await tab.say('Where am I?');
    const approvalId = tab.call('get_location').approval?.id ?? '';
    expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);

    const other = await served.reopen(tab, { tools: pageTools });
    await other.resume();
    await expectSound(other, { posts: 1 });
    expect(other.ran).toHaveLength(1);
    expectLastWord(other);
    expect(outline((await servedAs(tab, 'finished')).messages)).toEqual([
      ['get_location: output-available'],
    ]);

    // The first page still shows the question. Its answer comes too late, and must not run the tool.
    await tab.approve(tab.call('get_location'));
    expect(tab.ran, 'it has run elsewhere').toEqual([]);
    await expectSound(tab, { posts: 2 });
    expect(tab.call('get_location')).toMatchObject({ state: 'output-available', output: place });
    expect(tab.text).toBe(textOf(other.messages.at(-1)));
  },
);

test.each(majors)(
  'approved elsewhere and not run yet, the chat is valid, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Where am I?');
    const approvalId = tab.call('get_location').approval?.id ?? '';
    expect((await tab.api.answer(approvalId, { approved: true })).status).toBe(200);

    const chat = await servedAs(tab, 'parked');
    expect(outline(chat.messages)[0]?.[0]).toMatch(
      /^get_location: (input-available|approval-responded)$/,
    );
    await expectValid(chat.messages);
  },
);
