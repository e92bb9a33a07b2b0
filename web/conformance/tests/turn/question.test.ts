/** A server tool that asks a person for data: a stock page is shown a call of its own. */
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { serve } from './served.ts';
import { expectLastWord, expectServed, expectSound, outline } from './sound.ts';

const served = serve();

const table = { date: '2026-12-24', time: '19:00', people: 4, contact: { name: 'Ann' } };

const answering = { ask_user: () => ({ output: table }) };

test.each(majors)('what the page gives is the answer, on version %s', async major => {
  const tab = served.open(major, { tools: answering });
  await tab.say('Book a table');

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([
    ['book_table: output-available', 'ask_user: output-available'],
  ]);
  const input = {
    question: 'When, and for how many?',
    schema: { required: expect.arrayContaining(['people']) },
  };
  expect(tab.ran).toMatchObject([{ toolName: 'ask_user', input }]);
  expect(tab.call('book_table').output).toMatchObject(table);
  expectLastWord(tab, /2026-12-24/);
  await expectServed(tab);
});

test.each(majors)('an output error declines, on version %s', async major => {
  const tab = served.open(major, {
    tools: { ask_user: () => ({ errorText: 'Declined: not today' }) },
  });
  await tab.say('Book a table');

  await expectSound(tab, { posts: 2 });
  expect(tab.call('ask_user')).toMatchObject({
    state: 'output-error',
    errorText: 'Declined: not today',
  });
  expect(tab.call('book_table')).toMatchObject({ state: 'output-error' });
  expectLastWord(tab, /not today/);
  await expectServed(tab);
});

test.each(majors)('a page that leaves it alone finds it again, on version %s', async major => {
  const tab = served.open(major);
  await tab.say('Book a table');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages).flat()).toContain('ask_user: input-available');
  await expectServed(tab, 'parked');
  const other = await served.reopen(tab, { tools: answering });
  const [open] = await tab.api.approvals();
  expect(open).toMatchObject({ kind: 'question', toolName: 'ask_user' });
  expect(outline(other.messages).flat()).toContain('ask_user: input-available');
});
