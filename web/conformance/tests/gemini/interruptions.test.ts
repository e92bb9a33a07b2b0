/** Gemini's answer breaks off in the middle: what was said stays, and the rest can be had again. */
import { expect, test } from 'vitest';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { expectServed, expectSound, expectValid } from '../turn/sound.ts';
import { metadataOf, type PageKind, pages, serveFaulty } from './pages.ts';

const served = serveFaulty();

/** The demo repeats what it does not understand, in a few words. */
const prompt = 'Good morning to you';

/** What the demo says to it, undisturbed. */
let whole = '';

async function say(page: PageKind, fault: object): Promise<Tab> {
  if (whole === '') {
    await served.emulator.follow([]);
    const tab = served.visit(page);
    await tab.say(prompt);
    whole = tab.text;
    expect(whole.split(' ').length).toBeGreaterThan(4);
  }
  await served.emulator.follow([{ on: 'generate', ...fault }]);
  const tab = served.visit(page);
  await tab.say(prompt);
  return tab;
}

/** The beginning is shown and kept, with the error; the answer can be had again, whole. */
async function expectBroken(tab: Tab, code: string) {
  await expectSound(tab, { posts: 1, error: new RegExp(`^${code}: `), tolerated: ['unfinished'] });
  expect(tab.text).not.toBe('');
  expect(tab.text).not.toBe(whole);
  expect(whole.startsWith(tab.text)).toBe(true);
  const chat = await tab.api.chat(tab.id);
  expect(chat).toMatchObject({ status: 'failed', error: { code } });
  expect(chat?.messages.at(-1)?.parts).toContainEqual(
    expect.objectContaining({ type: 'text', text: tab.text }),
  );
  await expectValid(chat?.messages ?? []);
  expect((await served.emulator.requests()).length, 'nothing is asked again').toBe(1);

  await served.emulator.follow([]);
  await tab.regenerate();
  expect(tab.page.error).toBeUndefined();
  expect(tab.text).toBe(whole);
  await expectServed(tab);
  // Nothing of the half answer goes back to the model.
  expect((await served.emulator.requests())[0]?.contents).toHaveLength(1);
}

const faults = [
  { what: 'is cut', fault: { cut: { after: 3 } }, code: 'agent_cut_off' },
  { what: 'is cut inside of a chunk', fault: { cut: { afterBytes: 500 } }, code: 'agent_cut_off' },
  {
    what: 'holds a chunk that is no JSON',
    fault: { malformed: { after: 3 } },
    code: 'agent_invalid_response',
  },
  { what: 'fails with 503', fault: { error: { code: 503, after: 3 } }, code: 'agent_unavailable' },
  {
    what: 'fails with 429',
    fault: { error: { code: 429, retryAfterSeconds: 1, after: 3 } },
    code: 'rate_limited',
  },
];

test.each(faults.flatMap(fault => pages.map(page => ({ ...fault, ...page }))))(
  'an answer that $what, on version $major over $transport',
  async ({ fault, code, ...page }) => {
    await expectBroken(await say(page, fault), code);
  },
);

test.each(pages)('an answer that a filter stops, on version $major over $transport', async page => {
  const tab = await say(page, { finish: { reason: 'SAFETY', after: 3 } });

  await expectSound(tab, { posts: 1 });
  expect(tab.text).not.toBe('');
  expect(whole.startsWith(tab.text)).toBe(true);
  expect(metadataOf(tab).finishReason).toBe('SAFETY');
  expect(tab.windows.at(-1)?.text).toContain('"finishReason":"content-filter"');
  await expectServed(tab);
});

test.each(pages)(
  'an answer that a filter stops before its first word, on version $major over $transport',
  async page => {
    const tab = await say(page, { finish: { reason: 'SAFETY', after: 0 } });

    await expectSound(tab, { posts: 1, error: /^agent_blocked: .*its answer \(SAFETY\)/ });
    expect(tab.text).toBe('');
    expect(await tab.api.chat(tab.id)).toMatchObject({ status: 'failed' });
  },
);

test.each(pages)('an answer that is too long, on version $major over $transport', async page => {
  const tab = await say(page, { finish: { reason: 'MAX_TOKENS', after: 3 } });

  await expectSound(tab, { posts: 1 });
  expect(metadataOf(tab).finishReason).toBe('MAX_TOKENS');
  expect(tab.windows.at(-1)?.text).toContain('"finishReason":"length"');
  await expectServed(tab);
});

test.each(pages)(
  'a stop in the middle closes the request, on version $major over $transport',
  async page => {
    await served.emulator.follow([{ on: 'generate', paceMs: 20 }]);
    const tab = served.visit(page);
    tab.begin('take your time');
    await until('some words have come', () => tab.text.split(' ').length > 3);
    expect((await served.emulator.stats()).streamsOpen).toBe(1);
    expect(await tab.api.stop(tab.id)).toBe(true);

    await served.emulator.closed();
    expect(await served.emulator.log()).toContainEqual(
      expect.objectContaining({ kind: 'ended', cut: true }),
    );
    await expectSound(tab, { posts: 1 });
    await expectServed(tab, 'stopped');
  },
);

test('closing a window leaves the request open', async () => {
  for (const page of pages) {
    await served.emulator.follow([{ on: 'generate', paceMs: 2 }]);
    const tab = served.visit(page);
    tab.begin('take your time');
    await until('some words have come', () => tab.text.split(' ').length > 3);
    await tab.leave();
    await until('the answer is whole', async () => {
      const chat = await tab.api.chat(tab.id);
      return chat?.status === 'finished';
    });
    expect(await served.emulator.log()).not.toContainEqual(
      expect.objectContaining({ kind: 'ended', cut: true }),
    );
  }
});
