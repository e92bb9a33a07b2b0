/** A run belongs to the turn: pages come and go, and only a stop ends it. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { pages, serveFaulty, twoPages } from '../gemini/pages.ts';
import {
  expectLastWord,
  expectServed,
  expectSound,
  known,
  outline,
  servedAs,
} from '../turn/sound.ts';
import { asked, call, newCall, noted, notes, says } from './probe.ts';

const served = serveFaulty({ adkApp: 'plain' });

/** The model has a tool take its time, and says something afterwards. */
async function script(seconds: number): Promise<string> {
  const id = newCall();
  await served.emulator.follow([says(call('doze', id, { seconds })), says('Good morning.')]);
  return id;
}

test.each(pages)(
  'a page that leaves aborts nothing, on version $major over $transport',
  async page => {
    const id = await script(0.5);
    const tab = served.visit(page);
    tab.begin('Sleep');
    await noted(id, 'doze');
    await tab.leave();

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['doze: output-available']]);
    expect(textOf(chat.messages.at(-1))).toBe('Good morning.');
    expect(notes(id).map(({ event }) => event)).toEqual(['doze', 'awake']);
  },
);

test.each(pages)(
  'a page that is loaded again sees the rest, on version $major over $transport',
  async page => {
    const id = await script(0.5);
    const tab = served.visit(page);
    tab.begin('Sleep');
    await noted(id, 'doze');
    const other = await served.reopen(tab);
    const resumed = other.resume();
    await tab.quiet();
    await resumed;

    await expectSound(tab, { posts: 1 });
    await expectSound(other, { posts: 0 });
    expect(known(other.messages, tab)).toEqual(known(tab.messages, tab));
    expectLastWord(other, /Good morning/);
    await expectServed(other);
    expect(notes(id).map(({ event }) => event)).toEqual(['doze', 'awake']);
  },
);

test.each(pages)('a stop cancels the run, on version $major over $transport', async page => {
  const id = await script(600);
  const tab = served.visit(page);
  tab.begin('Sleep');
  await noted(id, 'doze');
  await until('the call is shown', () => tab.calls('doze').length === 1);
  expect(await tab.api.stop(tab.id)).toBe(true);
  await noted(id, 'cancelled');

  await expectSound(tab, { posts: 1 });
  await expectServed(tab, 'stopped');
  expect(tab.call('doze').errorText).toMatch(/unknown/i);
  expect(notes(id).map(({ event }) => event)).toEqual(['doze', 'cancelled']);

  // The chat continues, and the model knows that the call came to nothing.
  await served.emulator.follow([says('I am up.')]);
  await tab.say('Hello?');
  await expectSound(tab, { posts: 2 });
  expectLastWord(tab, /I am up/);
  const [request] = await asked(served.emulator);
  expect(request?.at(-1)).toBe('Hello?');
});

test.each(majors)('a message over a run cancels it, on version %s', async major => {
  const id = await script(600);
  const tab = served.open(major);
  tab.begin('Sleep');
  await noted(id, 'doze');
  await until('the call is shown', () => tab.calls('doze').length === 1);
  await served.emulator.follow([says('I am up.')]);
  const other = await served.reopen(tab);
  await other.say('Wake up!');
  await noted(id, 'cancelled');

  expectLastWord(other, /I am up/);
  const requests = await asked(served.emulator);
  expect(requests).toHaveLength(1);
  expect(requests[0]?.at(-1)).toBe('Wake up!');
});

test.each(twoPages)(
  'a server that dies is missed by nobody who was asked, on version $major over $transport',
  async page => {
    const id = newCall();
    await served.emulator.follow([says(call('pay', id, { to: 'Ann' })), says('Paid.')]);
    const tab = served.visit(page);
    await tab.say('Pay Ann');
    await served.server.crash();
    await tab.approve(tab.call('pay'));

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([['pay: output-available']]);
    expectLastWord(tab, /Paid/);
    await expectServed(tab);
    expect(notes(id)).toHaveLength(1);
  },
);

test.each(twoPages)(
  'a server that dies while a tool works leaves it unknown, on version $major over $transport',
  async page => {
    const id = await script(600);
    const tab = served.visit(page);
    tab.begin('Sleep');
    await until('the call is shown', () => tab.calls('doze').length === 1);
    await noted(id, 'doze');
    await served.server.crash();
    // ADK cancels what nobody listens to.
    await noted(id, 'cancelled');

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['doze: output-error']]);
    expect(textOf(chat.messages.at(-1))).toBe('Good morning.');
    expect(notes(id).map(({ event }) => event)).toEqual(['doze', 'cancelled']);
    await tab.quiet();
  },
);

test.each(majors)(
  'what a tool that works alone finds is shown once, on version %s',
  async major => {
    const id = newCall();
    await served.emulator.follow([says(call('look', id, { at: 'the sea' })), says('It is blue.')]);
    const tab = served.open(major);
    await tab.say('Look');

    await expectSound(tab, { posts: 1 });
    expect(tab.call('look')).toMatchObject({
      type: 'dynamic-tool',
      state: 'output-available',
      output: { seen: 'the sea' },
    });
    expect(notes(id)).toMatchObject([
      { event: 'look', session: tab.id, metadata: { adk_stream: { turn: expect.any(String) } } },
    ]);
  },
);
