/** A question that is open in a live conversation outlives the page, the session and the server. */
import { expect, test } from 'vitest';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { toolParts } from '../../src/tool-part.ts';
import { type PageKind, pages, serveFaulty } from '../gemini/pages.ts';
import {
  expectLastWord,
  expectPaid,
  expectServed,
  expectSound,
  expectValid,
  outline,
  servedAs,
} from '../turn/sound.ts';
import { opened } from './noted.ts';

const served = serveFaulty({ store: 'sqlite' });

/** A tab with an open question. */
async function ask(page: PageKind, rules: object[] = []): Promise<Tab> {
  await served.emulator.begin(rules as never);
  const tab = served.visit(page);
  await tab.say('Send $20 to Sam');
  expect(outline(tab.messages)).toEqual([['process_payment: approval-requested']]);
  return tab;
}

async function expectDone(tab: Tab, posts: number) {
  await expectSound(tab, { posts });
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  expectLastWord(tab, /Sam/);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
}

/** What the session that answered got of the payment: as a response, or in the history. */
async function responses() {
  return (await served.emulator.frames('received')).flatMap(
    ({ toolResponse }) => toolResponse?.functionResponses ?? [],
  );
}

test.each(pages)('the page is loaded again, on version $major over $transport', async page => {
  const tab = await ask(page);
  const other = await served.reopen(tab);
  await other.resume();
  await other.approve(other.call('process_payment'));

  await expectDone(other, 1);
  expect(await responses()).toMatchObject([{ name: 'process_payment', response: { output: {} } }]);
  expect(await opened(other)).toEqual(['seeded', 'kept']);
});

test.each(pages)('goAway, and time enough, on version $major over $transport', async page => {
  const tab = await ask(page);
  await served.emulator.act({ goAway: { timeLeftSeconds: 50 } });
  await tab.approve(tab.call('process_payment'));

  await expectDone(tab, 2);
  // There is no handle while the model waits: the session is used as long as it lasts.
  expect(await opened(tab)).toEqual(['seeded', 'kept']);
  await served.emulator.closed();
});

test.each(
  [
    { what: 'goAway, and the end', act: { goAway: { timeLeftSeconds: 0, closeAfterMs: 0 } } },
    { what: 'the session is cut', act: { cut: {} } },
    { what: 'the session is closed', act: { close: { code: 1011 } } },
  ].flatMap(act => pages.map(page => ({ ...act, ...page }))),
)('$what, on version $major over $transport', async ({ act, ...page }) => {
  const tab = await ask(page);
  expect(await served.emulator.act(act as never)).toBe(1);
  await served.emulator.closed();
  expect((await tab.api.approvals()).map(({ toolName }) => toolName)).toEqual(['process_payment']);
  await tab.approve(tab.call('process_payment'));

  await expectDone(tab, 2);
  expect(await opened(tab)).toEqual(['seeded', 'seeded']);
  const sent = (await served.emulator.frames('received')).at(-1)?.clientContent?.turns;
  expect(sent?.map(({ parts }) => Object.keys(parts.at(-1) ?? {}))).toEqual([
    ['text'],
    ['functionCall'],
    ['functionResponse'],
  ]);
});

test.each(pages)('the server is killed, on version $major over $transport', async page => {
  const tab = await ask(page);
  await served.server.crash();
  await served.emulator.closed();
  await tab.approve(tab.call('process_payment'));

  await expectDone(tab, 2);
  // A session that waited for a call can't be resumed: the history is sent, and the journal records it.
  expect(await opened(tab)).toEqual(['seeded', 'seeded']);
});

test.each(pages)('the model takes the call back, on version $major over $transport', async page => {
  const tab = await ask(page, [
    {
      on: 'answer',
      nth: 2,
      respond: [said('Never mind.'), { serverContent: { turnComplete: true } }],
    },
  ]);
  const { approval } = tab.call('process_payment');
  expect(await served.emulator.act({ cancelCalls: {} })).toBe(1);
  await until('nobody is asked any more', async () => (await tab.api.approvals()).length === 0);
  await servedAs(tab, 'finished');

  // An approval that comes late runs nothing, and gets the decision.
  expect(await tab.api.answer(approval?.id ?? '', { approved: true })).toMatchObject({
    status: 409,
    body: { error: { code: 'already_decided' } },
  });
  await tab.approve(tab.call('process_payment'));
  expect(tab.page.error).toBeUndefined();
  expect(tab.call('process_payment').state).toMatch(/^output-(error|denied)$/);
  expect(tab.call('process_payment').errorText ?? '').toMatch(/took|taken|cancel/i);
  expectLastWord(tab, /Never mind\./);
  await expectPaid(tab, []);
  // The page shows its own yes beside it; the chat knows of none.
  const chat = await tab.api.chat(tab.id);
  await expectValid(chat?.messages ?? []);
  expect(chat?.messages.flatMap(toolParts)).toMatchObject([{ state: 'output-error' }]);
});

test.each(pages)(
  'a page that comes back sees that the call was taken back, on version $major over $transport',
  async page => {
    const tab = await ask(page);
    await served.emulator.act({ cancelCalls: {} });
    await servedAs(tab, 'finished');
    const other = await served.reopen(tab);

    expect(other.call('process_payment')).toMatchObject({
      state: 'output-error',
      errorText: expect.stringMatching(/took|taken|cancel/i),
    });
    await other.say('Good morning to you');
    await expectSound(other, { posts: 1 });
    await expectServed(other);
    await expectPaid(tab, []);
  },
);

test.each(pages)('a denial, and then a message, on version $major over $transport', async page => {
  const tab = await ask(page);
  await tab.deny(tab.call('process_payment'), 'not today');
  await tab.say('Good morning to you');

  await expectSound(tab, { posts: 3 });
  expectLastWord(tab, /Good morning to you/);
  expect(await responses()).toMatchObject([{ response: { error: 'Denied: not today' } }]);
  expect(await opened(tab)).toEqual(['seeded', 'kept', 'kept']);
  await expectPaid(tab, []);
});

function said(text: string) {
  return { serverContent: { modelTurn: { role: 'model', parts: [{ text }] } } };
}
