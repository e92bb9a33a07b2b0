/** A session that is refused, or lost: the page notices nothing, or gets a code. */
import { expect, test } from 'vitest';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { pages, serveFaulty, twoPages } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound, expectValid } from '../turn/sound.ts';
import { noted, opened, resumable } from './noted.ts';

const served = serveFaulty();

const slow = serveFaulty({ pace: 4 });

/** The demo repeats what it does not understand, in a few words. */
const prompt = 'Good morning to you';

const connects = async (faulty = served) =>
  (await faulty.emulator.frames('received')).filter(({ setup }) => setup !== undefined);

const handles = async () =>
  (await connects()).map(({ setup }) => setup?.sessionResumption?.handle !== undefined);

async function expectReported(tab: Tab, code: string, words: RegExp) {
  await expectSound(tab, { posts: 1, error: new RegExp(`^${code}: .*${words.source}`) });
  expect(await tab.api.chat(tab.id)).toMatchObject({ status: 'failed', error: { code } });
  await served.emulator.closed();
}

/** The person asks for the answer once more, and gets it. */
async function expectMended(tab: Tab) {
  await served.emulator.follow([]);
  await tab.regenerate();
  expect(tab.page.error).toBeUndefined();
  expectLastWord(tab, /Good morning to you/);
  await expectServed(tab);
}

const refusals = [
  {
    close: { code: 1007, reason: 'API key not valid.' },
    code: 'agent_unauthorized',
    words: /the key/,
  },
  { close: { code: 1007, reason: 'Strange.' }, code: 'agent_bad_request', words: /Strange\./ },
  { close: { code: 1008, reason: 'm is not found' }, code: 'agent_not_found', words: /no such/ },
];

test.each(refusals.flatMap(refusal => pages.map(page => ({ ...refusal, ...page }))))(
  'a setup refused with $close.code, $code, on version $major over $transport',
  async ({ close, code, words, ...page }) => {
    await served.emulator.begin([{ on: 'connect', close }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectReported(tab, code, words);
    expect(await connects(), 'it is not asked again').toHaveLength(1);
    await expectMended(tab);
  },
);

test.each(pages)(
  'a setup refused with 1011, once, on version $major over $transport',
  async page => {
    await served.emulator.begin([{ on: 'connect', times: 1, close: { code: 1011 } }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectSound(tab, { posts: 1 });
    await expectServed(tab);
    expect(await connects()).toHaveLength(2);
  },
);

test.each([
  { reason: 'Internal error.', code: 'agent_unavailable', words: /not available/ },
  { reason: 'You exceeded your quota.', code: 'rate_limited', words: /too many requests/ },
])('a setup refused with 1011 for ever: $reason', async ({ reason, code, words }) => {
  await served.emulator.begin([{ on: 'connect', close: { code: 1011, reason } }]);
  await Promise.all(
    twoPages.map(async page => {
      const tab = served.visit(page);
      await tab.say(prompt);
      await expectReported(tab, code, words);
    }),
  );
  expect(await connects()).toHaveLength(8);
});

test.each(
  [
    { what: 'while it is set up', fault: { on: 'connect', cut: {} } },
    { what: 'before a word was said', fault: { on: 'answer', cut: {} } },
    { what: 'late', fault: { on: 'answer', delayMs: 150, cut: {} } },
  ].flatMap(fault => pages.map(page => ({ ...fault, ...page }))),
)('a session lost $what, on version $major over $transport', async ({ fault, ...page }) => {
  await served.emulator.begin([{ times: 1, ...fault } as never]);
  const tab = served.visit(page);
  await tab.say(prompt);

  await expectSound(tab, { posts: 1 });
  expectLastWord(tab, /Good morning to you/);
  await expectServed(tab);
  expect(await connects()).toHaveLength(2);
  expect(await opened(tab)).toEqual(['seeded']);
});

test.each(pages)(
  'a session lost in the middle of a text, on version $major over $transport',
  async page => {
    await served.emulator.begin([]);
    const other = served.visit(page);
    await other.say(prompt);

    // In the second turn, so that there is a handle.
    await served.emulator.begin([{ on: 'answer', nth: 2, cut: { after: 4 } }]);
    const tab = served.visit(page);
    await tab.say('Hello');
    await resumable(tab);
    await tab.say(prompt);

    await expectSound(tab, { posts: 2 });
    expect(tab.text, 'nothing is said twice').toBe(other.text);
    expect(tab.messages.at(-1)?.parts.filter(({ type }) => type === 'text')).toHaveLength(1);
    await expectServed(tab);
    expect(await handles()).toEqual([false, true]);
    expect(await opened(tab)).toEqual(['seeded', 'resumed']);
  },
);

test.each(pages)(
  'a session that answers otherwise after it was lost, on version $major over $transport',
  async page => {
    const turn = (text: string) => ({
      serverContent: { modelTurn: { role: 'model', parts: [{ text }] } },
    });
    const complete = { serverContent: { turnComplete: true } };
    await served.emulator.begin([
      { on: 'answer', nth: 1, respond: [turn('The sky '), turn('is blue.')], cut: { after: 1 } },
      { on: 'answer', nth: 2, respond: [turn('The sea '), turn('is green.'), complete] },
    ]);
    const tab = served.visit(page);
    await tab.say('What is it like?');

    await expectSound(tab, { posts: 1 });
    const texts = tab.messages.at(-1)?.parts.flatMap(part => ('text' in part ? [part.text] : []));
    expect(texts).toEqual(['The sky ', 'The sea is green.']);
    await expectServed(tab);
  },
);

test.each(pages)(
  'a session that is always lost in the middle, on version $major over $transport',
  async page => {
    await served.emulator.begin([{ on: 'answer', cut: { after: 4 } }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectSound(tab, { posts: 1, error: /^agent_cut_off: / });
    expect(tab.text).not.toBe('');
    expect(tab.messages.at(-1)?.parts.filter(({ type }) => type === 'text')).toHaveLength(1);
    const chat = await tab.api.chat(tab.id);
    expect(chat).toMatchObject({ status: 'failed', error: { code: 'agent_cut_off' } });
    await expectValid(chat?.messages ?? []);
    await served.emulator.closed();
    await expectMended(tab);
  },
);

test.each(pages)('a frame that is no JSON, on version $major over $transport', async page => {
  await served.emulator.begin([{ on: 'answer', times: 1, malformed: { after: 3 } }]);
  const tab = served.visit(page);
  await tab.say(prompt);

  await expectSound(tab, { posts: 1, error: /^agent_invalid_response: / });
  expect(tab.text).not.toBe('');
  await served.emulator.closed();
  await expectMended(tab);
});

test.each(pages)('goAway while nothing happens, on version $major over $transport', async page => {
  await served.emulator.begin([]);
  const tab = served.visit(page);
  await tab.say('Hello');
  await resumable(tab);
  await served.emulator.act({ goAway: { timeLeftSeconds: 50 } });
  await served.emulator.closed();
  await tab.say(prompt);

  await expectSound(tab, { posts: 2 });
  expectLastWord(tab, /Good morning to you/);
  await expectServed(tab);
  expect(await handles()).toEqual([false, true]);
  expect(await opened(tab)).toEqual(['seeded', 'resumed']);
});

test.each(pages)(
  'goAway in the middle of a text, on version $major over $transport',
  async page => {
    await served.emulator.begin([
      { on: 'answer', nth: 1, goAway: { timeLeftSeconds: 50, after: 2 } },
    ]);
    const tab = served.visit(page);
    await tab.say(prompt);
    await resumable(tab);
    await served.emulator.closed();
    await tab.say('And again');

    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    expect(await opened(tab)).toEqual(['seeded', 'resumed']);
  },
);

test.each(pages)(
  'goAway, and the end in the middle of a text, on version $major over $transport',
  async page => {
    await slow.emulator.begin([
      { on: 'answer', nth: 1, goAway: { timeLeftSeconds: 1, after: 2, closeAfterMs: 60 } },
    ]);
    const tab = slow.visit(page);
    tab.begin('take your time');
    await until('the session is lost', async () => (await connects(slow)).length === 2);
    await until('more is said', () => tab.text.includes('word-20'));
    expect(await tab.api.stop(tab.id)).toBe(true);

    await expectSound(tab, { posts: 1 });
    expect(tab.text.match(/You asked me/g)).toHaveLength(1);
    await expectServed(tab, 'stopped');
  },
);

test.each(pages)(
  'a handle that is not known any more, on version $major over $transport',
  async page => {
    await served.emulator.begin([{ on: 'connect', nth: 2, refuseHandle: true }]);
    const tab = served.visit(page);
    await tab.say('Hello');
    await resumable(tab);
    await served.emulator.act({ cut: {} });
    await served.emulator.closed();
    await tab.say(prompt);

    await expectSound(tab, { posts: 2 });
    expectLastWord(tab, /Good morning to you/);
    await expectServed(tab);
    expect(await handles()).toEqual([false, true, false]);
    expect(await opened(tab)).toEqual(['seeded', 'seeded']);
    const sent = (await served.emulator.frames('received')).at(-1)?.clientContent?.turns;
    expect(sent?.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
    expect(sent?.[0]?.parts).toEqual([{ text: 'Hello' }]);
  },
);

test.each(pages)('a message while it speaks, on version $major over $transport', async page => {
  await slow.emulator.begin([]);
  const tab = slow.visit(page);
  tab.begin('take your time');
  await until('some words have come', () => tab.text.split(' ').length > 3);
  await tab.leave();
  await tab.say(prompt);

  // The client left the first answer in the middle.
  await expectSound(tab, { posts: 2, tolerated: ['unfinished'] });
  expectLastWord(tab, /Good morning to you/);
  expect(tab.text).not.toMatch(/word-/);
  const sent = await slow.emulator.frames('sent');
  expect(sent).toContainEqual({ serverContent: { interrupted: true } });
  expect(await connects(slow), 'on the same session').toHaveLength(1);
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('finished');
  expect(chat?.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
  await expectValid(chat?.messages ?? []);
});

test.each(pages)(
  'an answer that is broken off upstream, on version $major over $transport',
  async page => {
    await served.emulator.begin([{ on: 'answer', nth: 1, interrupt: { after: 3 } }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectSound(tab, { posts: 1 });
    expect(tab.text).not.toBe('');
    expect(tab.data).toContainEqual(expect.objectContaining({ type: 'data-interrupted' }));
    await expectServed(tab);
    await tab.say(prompt);
    await expectSound(tab, { posts: 2 });
    expectLastWord(tab, /Good morning to you/);
  },
);

test.each(pages)(
  'an edit and a regeneration begin again, on version $major over $transport',
  async page => {
    await served.emulator.begin([]);
    const tab = served.visit(page);
    await tab.say('Hello');
    await tab.say('Good bye');
    await tab.regenerate();
    await tab.edit(tab.messages[0]?.id ?? '', prompt);

    expect(tab.page.error).toBeUndefined();
    expectLastWord(tab, /Good morning to you/);
    await expectServed(tab);
    const sent = (await served.emulator.frames('received')).flatMap(({ clientContent }) =>
      clientContent === undefined ? [] : [clientContent.turns.map(({ role }) => role)],
    );
    expect(sent).toEqual([['user'], ['user'], ['user', 'model', 'user'], ['user']]);
    expect((await noted(tab)).length).toBeGreaterThan(0);
  },
);
