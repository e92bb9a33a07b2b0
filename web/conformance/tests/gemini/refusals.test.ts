/** Gemini refuses, or says nothing: what can be retried is, and the rest is reported with a code. */
import { expect, test } from 'vitest';
import type { Tab } from '../../src/server/tab.ts';
import { expectLastWord, expectServed, expectSound, expectValid } from '../turn/sound.ts';
import { pages, serveFaulty, twoPages } from './pages.ts';

const served = serveFaulty();

const prompt = 'What is the weather in Oslo?';

/** How often Gemini was asked. */
const asked = async () => (await served.emulator.requests()).length;

/** The page shows a finished answer, and nothing of what it took. */
async function expectUnseen(tab: Tab) {
  await expectSound(tab, { posts: 1 });
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
}

/** The page shows the error, and the chat has it. */
async function expectReported(tab: Tab, code: string, words: RegExp) {
  await expectSound(tab, { posts: 1, error: new RegExp(`^${code}: .*${words.source}`) });
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('failed');
  expect(chat?.error?.code).toBe(code);
  expect(chat?.error?.message).toMatch(words);
  await expectValid(chat?.messages ?? []);
  return chat?.error;
}

/** The person asks for the answer once more, and gets it. */
async function expectMended(tab: Tab) {
  await served.emulator.follow([]);
  await tab.regenerate();
  expect(tab.page.error).toBeUndefined();
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
}

test.each(pages)('a late answer, on version $major over $transport', async page => {
  await served.emulator.follow([{ on: 'generate', delayMs: 150, paceMs: 5 }]);
  const tab = served.visit(page);
  const begun = performance.now();
  await tab.say(prompt);

  // Two steps: the call, and what is said of it.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(300);
  await expectUnseen(tab);
});

test.each(pages)(
  'a connection that is cut before the first byte, on version $major over $transport',
  async page => {
    await served.emulator.follow([{ on: 'generate', times: 1, cut: {} }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectUnseen(tab);
    expect(await asked()).toBe(3);
  },
);

test.each(twoPages)(
  'a connection that is always cut, on version $major over $transport',
  async page => {
    await served.emulator.follow([{ on: 'generate', cut: {} }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectReported(tab, 'agent_unavailable', /can't be reached/);
    expect(await asked()).toBe(4);
    await expectMended(tab);
  },
);

test.each([500, 503].flatMap(code => pages.map(page => ({ code, ...page }))))(
  'a $code that passes, on version $major over $transport',
  async ({ code, ...page }) => {
    await served.emulator.follow([{ on: 'generate', times: 1, status: { code } }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectUnseen(tab);
    expect(await asked()).toBe(3);
  },
);

test.each(twoPages)('a 503 that stays, on version $major over $transport', async page => {
  await served.emulator.follow([
    { on: 'generate', status: { code: 503, message: 'The words of Google.' } },
  ]);
  const tab = served.visit(page);
  await tab.say(prompt);

  await expectReported(tab, 'agent_unavailable', /Gemini is not available at the moment\./);
  expect(await asked()).toBe(4);
  await expectMended(tab);
});

test.each(twoPages)('a 429 that is soon over, on version $major over $transport', async page => {
  await served.emulator.follow([
    { on: 'generate', times: 1, status: { code: 429, retryAfterSeconds: 1 } },
  ]);
  const tab = served.visit(page);
  const begun = performance.now();
  await tab.say(prompt);

  expect(performance.now() - begun).toBeGreaterThanOrEqual(1000);
  await expectUnseen(tab);
  expect(await asked()).toBe(3);
});

test.each(pages)('a 429 for long, on version $major over $transport', async page => {
  await served.emulator.follow([{ on: 'generate', status: { code: 429, retryAfterSeconds: 60 } }]);
  const tab = served.visit(page);
  await tab.say(prompt);

  const error = await expectReported(tab, 'rate_limited', /Try again in 60 seconds/);
  expect(error?.retryAfterMs).toBe(60_000);
  expect(await asked()).toBe(1);
  await expectMended(tab);
});

test.each([
  {
    status: { code: 400, message: 'The words of Google.' },
    code: 'agent_bad_request',
    words: /The words of Google\./,
  },
  {
    status: { code: 403, message: 'Project 17 may not.' },
    code: 'agent_unauthorized',
    words: /does not accept the key\.$/,
  },
  { status: { code: 404 }, code: 'agent_not_found', words: /no such model/ },
])('a $status.code is reported at once', async ({ status, code, words }) => {
  for (const page of pages) {
    await served.emulator.follow([{ on: 'generate', status }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectReported(tab, code, words);
    expect(await asked()).toBe(1);
  }
});

test.each(pages)('a blocked prompt, on version $major over $transport', async page => {
  await served.emulator.follow([{ on: 'generate', block: 'PROHIBITED_CONTENT' }]);
  const tab = served.visit(page);
  await tab.say(prompt);

  await expectReported(tab, 'agent_blocked', /blocked the prompt \(PROHIBITED_CONTENT\)/);
  expect(tab.text).toBe('');
  await expectMended(tab);
});

test.each(pages)('an answer without a chunk, on version $major over $transport', async page => {
  await served.emulator.follow([{ on: 'generate', empty: true }]);
  const tab = served.visit(page);
  await tab.say(prompt);

  await expectReported(tab, 'agent_cut_off', /ended in the middle/);
  await expectMended(tab);
});

test('an answer that is no stream at all', async () => {
  for (const page of pages) {
    await served.emulator.follow([{ on: 'generate', respond: ['<html>'] }]);
    const tab = served.visit(page);
    await tab.say(prompt);

    await expectReported(tab, 'agent_invalid_response', /can't be read/);
  }
});
