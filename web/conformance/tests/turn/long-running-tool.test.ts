/** A tool that says at once that it is not done, and whose result opens a turn of its own. */
import { expect } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { flow } from './flow.ts';
import { serve } from './served.ts';
import { expectLastWord, expectPaid, expectSound, known, outline } from './sound.ts';

const served = serve();

flow('late-result').each(majors)(
  'the result comes as a message of its own, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Write a report about tea');

    await expectSound(tab, { posts: 1 });
    expect(tab.call('write_report')).toMatchObject({
      state: 'output-available',
      input: { topic: 'tea' },
      output: { status: 'pending' },
    });
    expectLastWord(tab);

    const chat = await until('the report is shown', async () => {
      const now = await tab.api.chat(tab.id);
      return now?.status === 'finished' && now.messages.length === 3 && now;
    });
    expect(chat.messages.map(message => message.role)).toEqual(['user', 'assistant', 'assistant']);
    expect(known(chat.messages.slice(0, 2), tab)).toEqual(known(tab.messages, tab));
    expect(textOf(chat.messages[2])).toMatch(/tea/);

    // Two messages of the agent one after the other are what was meant here.
    const other = await served.reopen(tab);
    await other.resume();
    expect(other.connection.nothingToResume).toBe(1);
    await other.say('What is the weather in Oslo?');
    await expectSound(other, { posts: 1, tolerated: ['split'] });
    expect(other.messages).toHaveLength(5);
    expectLastWord(other, /Oslo/);
  },
);

flow('late-result').each(majors)(
  'a page that does not know of it continues, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Write a report about tea');
    await until('the report is shown', async () => {
      const now = await tab.api.chat(tab.id);
      return now?.status === 'finished' && now.messages.length === 3;
    });
    await tab.say('What is the weather in Oslo?');

    await expectSound(tab, { posts: 2 });
    expectLastWord(tab, /Oslo/);
    const chat = await tab.api.chat(tab.id);
    expect(chat?.messages.map(message => message.role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'user',
      'assistant',
    ]);
  },
);

flow('late-result', 'several-calls').each(majors)(
  'it waits for a turn that is parked, on version %s',
  async major => {
    const tab = served.open(major);
    await tab.say('Write a report about tea and pay Ann $5');
    expect(outline(tab.messages)).toEqual([
      ['write_report: output-available', 'process_payment: approval-requested'],
    ]);
    expect(await tab.api.approvals()).toHaveLength(1);
    await tab.approve(tab.call('process_payment'));

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([
      ['write_report: output-available', 'process_payment: output-available'],
    ]);
    const chat = await until('the report is shown', async () => {
      const now = await tab.api.chat(tab.id);
      return now?.status === 'finished' && now.messages.length === 3 && now;
    });
    expect(known(chat.messages.slice(0, 2), tab)).toEqual(known(tab.messages, tab));
    await expectPaid(tab, [{ amount: 5, recipient: 'Ann' }]);
  },
);
