/** A message that is sent while a turn is open, and waits for it. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { can } from './flow.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectSound, expectValid, outline } from './sound.ts';

const served = serve();

/** Another tab of the same person on the chat, whose messages wait. */
async function waitingTab(tab: Tab, whileRunning = 'queue'): Promise<Tab> {
  const chat = await tab.api.chat(tab.id);
  return served.open(tab.major, {
    api: tab.api,
    id: tab.id,
    messages: chat?.messages ?? [],
    body: { whileRunning },
  });
}

/** Says something that waits, and resolves when the server has it. */
async function queue(tab: Tab, text: string): Promise<void> {
  tab.begin(text);
  const words = await until('the message waits', async () => {
    const { queued = [] } = (await tab.api.chat(tab.id)) ?? {};
    return queued.length > 0 && queued.map(({ message }) => message.parts);
  });
  expect(words).toEqual([[{ type: 'text', text }]]);
}

test.each(majors)(
  'it supersedes no question, and is answered after it, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    const second = await waitingTab(tab);
    await queue(second, 'What is the weather in Oslo?');
    expect(await tab.api.approvals()).toHaveLength(1);

    await tab.approve(tab.call('process_payment'));
    await expectSound(tab, { posts: 2 });
    await expectSound(second, { posts: 1 });
    expectLastWord(second, /Oslo/);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
    const chat = await tab.api.chat(tab.id);
    expect(chat).toMatchObject({ status: 'finished' });
    expect(chat).not.toHaveProperty('queued');
    expect(outline(chat?.messages ?? [])).toEqual([
      ['process_payment: output-available'],
      ['get_weather: output-available'],
    ]);
    await expectValid(chat?.messages ?? []);
  },
);

test.each(majors)('a stop withdraws it, and its page says so, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Send $20 to Sam');
  const second = await waitingTab(tab);
  await queue(second, 'Send $5 to Ann');

  expect(await tab.api.stop(tab.id)).toBe(true);
  await expectSound(second, { posts: 1, error: /message_withdrawn/ });
  const chat = await tab.api.chat(tab.id);
  expect(chat).toMatchObject({ status: 'stopped' });
  expect(chat).not.toHaveProperty('queued');
  expect(outline(chat?.messages ?? [])).toEqual([['process_payment: output-error']]);
  await expectPaid(tab, []);
});

test.each(majors)(
  'injected, it is answered in the turn that was open, if the agent takes it there, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Send $20 to Sam');
    const second = await waitingTab(tab, 'inject');
    await queue(second, 'What is the weather in Oslo?');
    expect(await tab.api.approvals()).toHaveLength(1);

    await tab.approve(tab.call('process_payment'));
    await expectSound(tab, { posts: 2 });
    if (!can('injection')) {
      await expectSound(second, { posts: 1 });
    }
    expectLastWord(can('injection') ? tab : second, /Oslo/);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
    const chat = await tab.api.chat(tab.id);
    expect(chat).toMatchObject({ status: 'finished' });
    expect(chat).not.toHaveProperty('queued');
    await expectValid(chat?.messages ?? []);
    if (!can('injection')) {
      expect(outline(chat?.messages ?? [])).toEqual([
        ['process_payment: output-available'],
        ['get_weather: output-available'],
      ]);
      return;
    }
    // One turn: its message holds the words that were injected, where the agent got them.
    expect(outline(chat?.messages ?? [])).toEqual([
      ['process_payment: output-available', 'get_weather: output-available'],
    ]);
    const given = tab.messages.at(-1)?.parts.filter(part => part.type === 'data-user-message');
    expect(given).toMatchObject([
      { data: { parts: [{ type: 'text', text: 'What is the weather in Oslo?' }] } },
    ]);
  },
);
