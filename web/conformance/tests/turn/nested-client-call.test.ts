/** A server tool that asks the page to do something while it works. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { flow } from './flow.ts';
import { pageTools } from './page-tools.ts';
import { serve } from './served.ts';
import { expectLastWord, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)("the page's output comes back into the tool, on version %s", async major => {
  const tab = served.open(major, { tools: pageTools });
  await tab.say('Set the mood for Tokyo');

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([
    ['set_mood: output-available', 'change_bgm: output-available'],
  ]);
  expect(tab.call('set_mood').input).toMatchObject({ location: 'Tokyo' });
  expect(tab.ran).toMatchObject([{ toolName: 'change_bgm', input: { track: expect.any(Number) } }]);
  expectLastWord(tab);
  await expectServed(tab);
});

test.each(majors)('the tool learns that the page could not, on version %s', async major => {
  const tab = served.open(major, {
    tools: { change_bgm: () => ({ errorText: 'the speaker is off' }) },
  });
  await tab.say('Set the mood for Tokyo');

  await expectSound(tab, { posts: 2 });
  expect(tab.call('change_bgm')).toMatchObject({
    state: 'output-error',
    errorText: 'the speaker is off',
  });
  expect(tab.call('set_mood').state).toMatch(/^output-(available|error)$/);
  expectLastWord(tab);
  await expectServed(tab);
});

flow('preliminary-output').each(majors)(
  'until the page answers, the outer call is open, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Set the mood for Tokyo');

    await expectSound(tab, { posts: 1 });
    expect(outline(tab.messages)).toEqual([['set_mood: progress', 'change_bgm: input-available']]);
    await expectServed(tab, 'parked');
  },
);
