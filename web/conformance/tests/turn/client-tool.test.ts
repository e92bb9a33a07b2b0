/** A tool that the page runs, by `onToolCall`, as soon as it is announced. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import { expectLastWord, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)("the page's output goes to the agent, on version %s", async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('play track 1');

  await expectSound(tab, { posts: 2 });
  expect(tab.ran).toMatchObject([{ toolName: 'change_bgm', input: { track: 1 } }]);
  expect(outline(tab.messages)).toEqual([['change_bgm: output-available']]);
  expect(tab.call('change_bgm').output).toEqual({ success: true, track: 1 });
  expectLastWord(tab, /1/);
  await expectServed(tab);
});

test.each(majors)('a Japanese request is understood, on version %s', async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('トラック1に変更して');

  await expectSound(tab, { posts: 2 });
  expect(tab.ran).toMatchObject([{ toolName: 'change_bgm', input: { track: 1 } }]);
  expectLastWord(tab);
  await expectServed(tab);
});

test.each(majors)('a page that could not run it says why, on version %s', async major => {
  const tab = served.open(major, {
    tools: { change_bgm: () => ({ errorText: 'the speaker is off' }) },
  });
  await tab.say('play track 1');

  await expectSound(tab, { posts: 2 });
  expect(tab.call('change_bgm')).toMatchObject({
    state: 'output-error',
    errorText: 'the speaker is off',
  });
  expectLastWord(tab, /the speaker is off/);
  await expectServed(tab);
});

test.each(majors)('a page that runs nothing leaves the turn parked, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('play track 1');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([['change_bgm: input-available']]);
  await expectServed(tab, 'parked');
  expect(await tab.api.approvals()).toEqual([]);
});

test.each(majors)('two pages run it, and one output counts, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('play track 1');
  const other = await served.reopen(tab, { tools: pageTools });
  await other.resume();
  await expectSound(other, { posts: 1 });
  tab.give(tab.call('change_bgm').toolCallId, { output: { success: true, speaker: 'kitchen' } });

  // The page that came second shows an output of its own; it gets the one that counts.
  await expectSound(tab, { posts: 2, tolerated: ['state-back'] });
  expect(tab.call('change_bgm').output).toEqual({ success: true, track: 1 });
  expect(tab.text).toBe(other.text);
  await expectServed(tab);
});
