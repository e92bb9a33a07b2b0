/** A turn that needs nobody: one request, one window. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

test.each(majors)('a server tool runs and its result is shown, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([['get_weather: output-available']]);
  expect(tab.call('get_weather')).toMatchObject({
    input: { location: 'Oslo' },
    output: expect.any(Object),
  });
  expectLastWord(tab, /Oslo/);
  await expectServed(tab);
  await expectPaid(tab, []);
});

test.each(majors)('a Japanese question is understood, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('東京の天気を教えて');

  await expectSound(tab, { posts: 1 });
  expect(tab.call('get_weather')).toMatchObject({
    state: 'output-available',
    input: { location: 'Tokyo' },
  });
  expectLastWord(tab);
  await expectServed(tab);
});

test.each(majors)('a message that asks for no tool is answered, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Good morning!');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([[]]);
  expectLastWord(tab);
  await expectServed(tab);
});

test.each(majors)('one question follows another, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('What is the weather in Oslo?');
  await tab.say('What is the weather in Tokyo?');

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([
    ['get_weather: output-available'],
    ['get_weather: output-available'],
  ]);
  expectLastWord(tab, /Tokyo/);
  await expectServed(tab);
});
