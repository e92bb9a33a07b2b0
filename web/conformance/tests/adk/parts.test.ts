/** What ADK says besides words and calls, and how it fails. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import type { Rule } from '../../src/server/emulator.ts';
import { metadataOf, pages, partsOf, serveFaulty } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound, expectValid, outline } from '../turn/sound.ts';
import { call, expectFailed, newCall, notes, says } from './probe.ts';

const served = serveFaulty({ adkApp: 'plain' });

test.each(pages)('thoughts are reasoning, on version $major over $transport', async page => {
  await served.emulator.follow([says({ text: 'Let me see.', thought: true }, 'It is Tuesday.')]);
  const tab = served.visit(page);
  await tab.say('What day is it?');

  await expectSound(tab, { posts: 1 });
  expect(partsOf(tab, 'reasoning')).toMatchObject([{ text: 'Let me see.' }]);
  expect(tab.text).toBe('It is Tuesday.');
  await expectServed(tab);
});

test.each(pages)(
  'another agent takes over, and says so, on version $major over $transport',
  async page => {
    const id = newCall();
    await served.emulator.follow([
      says('One moment.', call('transfer_to_agent', id, { agent_name: 'helper' })),
      says('I am the helper.'),
      says('I still am.'),
    ]);
    const tab = served.visit(page);
    await tab.say('Help');

    await expectSound(tab, { posts: 1 });
    expect(outline(tab.messages)).toEqual([['transfer_to_agent: output-available']]);
    expect(
      tab.messages.at(-1)?.parts.find(part => part.type === 'data-adk-transfer'),
    ).toMatchObject({ data: { from: 'root', to: 'helper' } });
    const authors = partsOf(tab, 'text').map(part => part.providerMetadata?.adkStream?.author);
    expect(authors).toEqual(['root', 'helper']);
    expect(metadataOf(tab)).toMatchObject({ agent: 'helper' });
    expectLastWord(tab, /I am the helper/);
    await expectServed(tab);

    await tab.say('And now?');
    expect(metadataOf(tab)).toMatchObject({ agent: 'helper' });
    expectLastWord(tab, /I still am/);
  },
);

test.each(pages)('state and artifacts are data, on version $major over $transport', async page => {
  await served.emulator.follow([says(call('keep', newCall())), says('Kept.')]);
  const tab = served.visit(page);
  await tab.say('Keep this');

  await expectSound(tab, { posts: 1 });
  const data = tab.messages.at(-1)?.parts.filter(part => part.type.startsWith('data-'));
  expect(data).toMatchObject([
    { type: 'data-adk-state', data: { mood: 'good' } },
    { type: 'data-adk-artifacts', data: { 'note.txt': 0 } },
  ]);
  expectLastWord(tab, /Kept/);
  await expectServed(tab);
});

const faults: { name: string; rule: Rule; code: string; words: RegExp }[] = [
  {
    name: 'is asked too often',
    rule: { on: 'generate', times: 1, status: { code: 429, retryAfterSeconds: 17 } },
    code: 'rate_limited',
    words: /too many requests/,
  },
  {
    name: 'is out of order',
    rule: { on: 'generate', times: 1, status: { code: 500 } },
    code: 'agent_unavailable',
    words: /not available/,
  },
  {
    name: 'is overloaded',
    rule: { on: 'generate', times: 1, status: { code: 503 } },
    code: 'agent_unavailable',
    words: /not available/,
  },
  {
    name: 'refuses the key',
    rule: { on: 'generate', times: 1, status: { code: 403 } },
    code: 'agent_unauthorized',
    words: /key/,
  },
  {
    name: 'fails in the middle',
    rule: { on: 'generate', times: 1, error: { code: 503, after: 1 } },
    code: 'agent_unavailable',
    words: /not available/,
  },
  {
    name: 'is cut off in the middle',
    rule: { on: 'generate', times: 1, cut: { after: 1 } },
    code: 'agent_failed',
    words: /RemoteProtocolError/,
  },
  {
    name: 'speaks in riddles',
    rule: { on: 'generate', times: 1, malformed: { after: 1 } },
    code: 'agent_failed',
    words: /./,
  },
  {
    name: 'does not want to answer',
    rule: { on: 'generate', times: 1, block: 'SAFETY' },
    code: 'agent_blocked',
    words: /SAFETY/,
  },
];

for (const { name, rule, code, words } of faults) {
  test.each(majors)(`a model that ${name}, on version %s`, async major => {
    await served.emulator.follow([rule]);
    const tab = served.open(major);
    await tab.say('Good morning!');

    await expectSound(tab, { posts: 1, error: new RegExp(`^${code}: `) });
    await expectFailed(tab, code, words);
    await expectValid((await tab.api.chat(tab.id))?.messages ?? []);
    if (code === 'rate_limited') {
      expect((await tab.api.chat(tab.id))?.error?.retryAfterMs).toBe(17_000);
    }

    await served.emulator.follow([says('Good morning to you.')]);
    await tab.regenerate();
    expect(tab.page.error).toBeUndefined();
    expectLastWord(tab, /^Good morning to you/);
    await expectServed(tab);
  });
}

test.each(majors)('a tool that breaks is what failed, on version %s', async major => {
  const id = newCall();
  await served.emulator.follow([says(call('break_down', id))]);
  const tab = served.open(major);
  await tab.say('Break down');

  await expectSound(tab, { posts: 1, error: /^agent_failed: .*it broke/ });
  await expectFailed(tab, 'agent_failed', /it broke/);
  expect(tab.call('break_down')).toMatchObject({
    state: 'output-error',
    errorText: expect.stringMatching(/it broke/),
  });
  await served.emulator.follow([says('Better not.')]);
  await tab.regenerate();
  expectLastWord(tab, /Better not/);
  await expectServed(tab);
});

test.each(majors)('a model that fails after a payment pays once, on version %s', async major => {
  const id = newCall();
  await served.emulator.follow([
    says(call('pay', id, { to: 'Ann' })),
    { on: 'generate', times: 1, status: { code: 503 } },
  ]);
  const tab = served.open(major);
  await tab.say('Pay Ann');
  await tab.approve(tab.call('pay'));

  await expectSound(tab, { posts: 2, error: /^agent_unavailable: / });
  expect(tab.call('pay')).toMatchObject({ state: 'output-available', output: { paid: 'Ann' } });
  await served.emulator.follow([says('That went wrong, but she has it.')]);
  await tab.say('And?');
  expectLastWord(tab, /she has it/);
  expect(notes(id)).toHaveLength(1);
});
