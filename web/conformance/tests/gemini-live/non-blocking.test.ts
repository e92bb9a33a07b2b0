/** Tools that the model does not wait for: two questions are open side by side in a live conversation. */
import { expect, test } from 'vitest';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { type PageKind, pages, serveFaulty } from '../gemini/pages.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from '../turn/sound.ts';
import { opened, resumable } from './noted.ts';

const served = serveFaulty({ store: 'sqlite', flags: ['--live-tools', 'non-blocking'] });

async function ask(page: PageKind): Promise<Tab> {
  await served.emulator.begin([]);
  const tab = served.visit(page);
  await tab.say('Send $20 to Sam and $30 to Hana');
  expect(outline(tab.messages)).toEqual([
    ['process_payment: approval-requested', 'process_payment: approval-requested'],
  ]);
  expect(await tab.api.approvals()).toHaveLength(2);
  return tab;
}

/** The responses to calls that the model got, in order. */
async function responses() {
  return (await served.emulator.frames('received')).flatMap(
    ({ toolResponse }) => toolResponse?.functionResponses ?? [],
  );
}

const pending = {
  name: 'process_payment',
  willContinue: true,
  scheduling: 'SILENT',
  response: { status: expect.stringMatching(/^pending/) },
};

/** The model is to speak of them once, when it knows them all. */
const final = { name: 'process_payment', willContinue: false, scheduling: 'SILENT' };
const last = { ...final, scheduling: 'WHEN_IDLE' };

test.each(
  [
    { order: 'in their order', first: 0, second: 1 },
    { order: 'in the other order', first: 1, second: 0 },
  ].flatMap(order => pages.map(page => ({ ...order, ...page }))),
)(
  'two approvals are answered $order, on version $major over $transport',
  async ({ first, second, ...page }) => {
    const tab = await ask(page);
    const ids = tab.calls('process_payment').map(({ approval }) => approval?.id ?? '');
    expect(await responses()).toMatchObject([pending, pending]);

    // Each runs when it is allowed, whatever the outcome of the other.
    expect((await tab.api.answer(ids[first] ?? '', { approved: true })).status).toBe(200);
    await until('it is paid', async () => (await tab.api.wallet()).payments.length === 1);
    expect(await tab.api.approvals()).toHaveLength(1);
    expect((await tab.api.answer(ids[second] ?? '', { approved: true })).status).toBe(200);
    await until('all is said', async () => (await tab.api.chat(tab.id))?.status === 'finished');

    const other = await served.reopen(tab);
    await expectPaid(other, [
      { amount: 20, recipient: 'Sam' },
      { amount: 30, recipient: 'Hana' },
    ]);
    expect(outline(other.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: output-available'],
    ]);
    expectLastWord(other, /Sam[\s\S]*Hana/);
    const sent = await responses();
    expect(sent).toMatchObject([pending, pending, final, last]);
    expect(sent.slice(2).map(({ id }) => id)).toEqual(sent.slice(0, 2).map(({ id }) => id));
    expect(await opened(other)).toEqual(['seeded', 'kept']);
  },
);

test.each(pages)('both are answered in the page, on version $major over $transport', async page => {
  const tab = await ask(page);
  const [first, second] = tab.calls('process_payment');
  if (first === undefined || second === undefined) {
    throw new Error('there are not two questions');
  }
  tab.answer(second, false, 'not to her');
  await tab.approve(first);

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([
    ['process_payment: output-available', 'process_payment: output-denied'],
  ]);
  expectLastWord(tab, /Sam[\s\S]*not to her/);
  await expectServed(tab);
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(
  [{ what: 'cut' }, { what: 'asked to go away' }, { what: 'lost with the server' }].flatMap(loss =>
    pages.map(page => ({ ...loss, ...page })),
  ),
)(
  'a session that is $what is resumed by its handle, on version $major over $transport',
  async ({ what, ...page }) => {
    const tab = await ask(page);
    await resumable(tab);
    if (what === 'cut') {
      await served.emulator.act({ cut: {} });
    } else if (what === 'asked to go away') {
      await served.emulator.act({ goAway: { timeLeftSeconds: 50 } });
    } else {
      await served.server.crash();
    }
    await served.emulator.closed();
    const [first, second] = tab.calls('process_payment');
    if (first === undefined || second === undefined) {
      throw new Error('there are not two questions');
    }
    tab.answer(first, true);
    await tab.approve(second);

    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    await expectPaid(tab, [
      { amount: 20, recipient: 'Sam' },
      { amount: 30, recipient: 'Hana' },
    ]);
    expect(await responses()).toMatchObject([pending, pending, final, last]);
    expect(await opened(tab)).toEqual(['seeded', 'resumed']);
  },
);

test.each(pages)(
  'where the handle is gone after a restart, the history is sent, on version $major over $transport',
  async page => {
    const tab = await ask(page);
    await resumable(tab);
    await served.server.crash();
    await served.emulator.begin([{ on: 'connect', nth: 1, refuseHandle: true }]);
    const [first, second] = tab.calls('process_payment');
    if (first === undefined || second === undefined) {
      throw new Error('there are not two questions');
    }
    tab.answer(first, true);
    await tab.deny(second);

    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
    expect(await opened(tab)).toEqual(['seeded', 'seeded']);
  },
);

test.each(pages)(
  'the model takes its calls back, on version $major over $transport',
  async page => {
    const tab = await ask(page);
    await served.emulator.act({ cancelCalls: {} });
    await until('nobody is asked any more', async () => (await tab.api.approvals()).length === 0);
    await until(
      'the turn is over',
      async () => (await tab.api.chat(tab.id))?.status === 'finished',
    );

    for (const { approval } of tab.calls('process_payment')) {
      expect((await tab.api.answer(approval?.id ?? '', { approved: true })).status).toBe(409);
    }
    const other = await served.reopen(tab);
    expect(outline(other.messages)[0]).toEqual([
      expect.stringMatching(/^process_payment: output-(error|denied)$/),
      expect.stringMatching(/^process_payment: output-(error|denied)$/),
    ]);
    await expectPaid(other, []);
  },
);
