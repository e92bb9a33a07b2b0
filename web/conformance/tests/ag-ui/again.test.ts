/** What is said again, otherwise, or over a question that is open. */
import { expect, test } from 'vitest';
import { type AgUiPage, type AgUiVersion, agUiVersions } from '../../src/ag-ui-page.ts';
import { until } from '../../src/server/until.ts';
import { serve } from '../turn/served.ts';
import { cancelled, open, paid, turned } from './pages.ts';

const served = serve({ pace: 1 });

async function reopened(version: AgUiVersion, page: AgUiPage): Promise<AgUiPage> {
  const other = open(served, version, page);
  await other.load();
  expect(other.errors).toEqual([]);
  return other;
}

const again = { trigger: 'regenerate-message' };

test.each(agUiVersions)('an open question is taken back and asked again, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const old = page.interrupts[0]?.id ?? '';
  // The client takes no run that leaves the question without an answer.
  const resume = cancelled(page);
  page.replace(page.messages.slice(0, 1));
  await page.run({ forwardedProps: again, resume });

  expect(page.errors).toEqual([]);
  expect(page.interrupts).toHaveLength(1);
  expect(page.interrupts[0]?.id).not.toBe(old);
  expect(await page.api.approvals()).toHaveLength(1);
  await page.answer(true);
  expect(page.errors).toEqual([]);
  expect(await paid(page)).toHaveLength(1);
});

test.each(agUiVersions)('only the last answer is given again, on %s', async version => {
  const page = open(served, version);
  await page.say('What is the weather in Oslo?');
  await page.say('What is the weather in Tokyo?');
  const before = structuredClone(page.messages);
  const said = before.findLastIndex(({ role }) => role === 'user');
  page.replace(before.slice(0, said + 1));
  await page.run({ forwardedProps: again });

  expect(page.errors).toEqual([]);
  expect(page.messages.slice(0, said + 1)).toEqual(before.slice(0, said + 1));
  expect(page.messages.at(-1)?.id).not.toBe(before.at(-1)?.id);
  expect(page.text).toMatch(/Tokyo/);
});

test.each(agUiVersions)('a text is broken off and said again, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.split(' ').length > 3);
  page.leave();
  await run;
  page.dismissErrors();
  page.replace(page.messages.slice(0, 1));
  await page.run({ forwardedProps: again });

  expect(page.errors).toEqual([]);
  expect(page.outcome).toEqual({ type: 'success' });
  expect((await page.api.chat(page.id))?.messages).toHaveLength(2);
});

test.each(agUiVersions)('a turn that failed is tried again, on %s', async version => {
  const page = open(served, version);
  await page.say('fail with rate limit');
  page.dismissErrors();
  page.replace(page.messages.slice(0, 1));
  await page.run({ forwardedProps: again });

  expect(page.events.at(-1)?.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'rate_limited' });
  expect((await page.api.chat(page.id))?.messages.length).toBeLessThanOrEqual(2);
});

test.each(agUiVersions)('a new message denies the open question, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const old = page.interrupts[0]?.id ?? '';
  await page.say('What is the weather in Oslo?', { resume: cancelled(page) });

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
  expect((await page.api.answer(old, { approved: true })).status).toBe(409);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)(
  'a page answers what another has typed over, and gets what was decided, on %s',
  async version => {
    const page = open(served, version);
    await page.say('Send $20 to Sam');
    const other = await reopened(version, page);
    await other.say('What is the weather in Oslo?', { resume: cancelled(other) });
    await page.answer(true);

    expect([...page.errors, ...other.errors]).toEqual([]);
    expect(Object.values(page.calls)[0]).toMatch(/^Denied/);
    expect(await paid(page)).toEqual([]);
  },
);

test.each(agUiVersions)('a tool of the page is never run then, on %s', async version => {
  const page = open(served, version);
  await page.say('Where am I?');
  await page.say('What is the weather in Oslo?', { resume: cancelled(page) });

  expect(page.errors).toEqual([]);
  expect(page.ran).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
});

test.each(agUiVersions)('a tool in the middle of its work is ended then, on %s', async version => {
  const page = open(served, version);
  await page.say('Book a flight to Oslo');
  await page.answer(true);
  await page.say('What is the weather in Tokyo?', { resume: cancelled(page) });

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Tokyo/);
  expect(Object.values(page.calls)[0]).toMatch(/\S/);
  expect(await paid(page)).toEqual([]);
});

test.each(agUiVersions)('a text is broken off by a new message, on %s', async version => {
  const page = open(served, version);
  const run = page.say('take your time');
  await until('some words have come', () => page.text.split(' ').length > 3);
  page.leave();
  await run;
  page.dismissErrors();
  await page.say('What is the weather in Oslo?');

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
  expect((await page.api.chat(page.id))?.messages).toHaveLength(4);
});

test.each(agUiVersions)('two pages speak at once, and both are answered, on %s', async version => {
  const page = open(served, version);
  await page.say('Good morning!');
  const other = await reopened(version, page);
  await Promise.all([
    page.say('What is the weather in Oslo?'),
    other.say('What is the weather in Tokyo?'),
  ]);
  await turned(page, 'finished');

  expect([...page.errors, ...other.errors]).toEqual([]);
  const last = await reopened(version, page);
  const said = last.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(said.sort()).toEqual([
    'Good morning!',
    'What is the weather in Oslo?',
    'What is the weather in Tokyo?',
  ]);
});

test.each(agUiVersions)(
  'an output comes late, of what another page has edited, on %s',
  async version => {
    const page = open(served, version, { tools: {} });
    await page.say('play track 1');
    const call = page.messages.flatMap(({ toolCalls = [] }) => toolCalls)[0];
    const other = open(served, version, { api: page.api, id: page.id, tools: {} });
    await other.load();
    const id = other.messages[0]?.id ?? '';
    other.replace([{ id, role: 'user', content: 'What is the weather in Oslo?' }]);
    await other.run({ forwardedProps: { messageId: id } });
    expect(other.errors).toEqual([]);
    const output = { id: 'output', role: 'tool', toolCallId: call?.id ?? '', content: '{}' };
    page.replace([...page.messages, output]);
    await page.run();

    expect(page.errors).toEqual([]);
    const last = await reopened(version, page);
    expect(Object.keys(last.calls)).toEqual(['0: get_weather']);
  },
);

test.each(agUiVersions)('a message that failed is said otherwise, on %s', async version => {
  const page = open(served, version);
  await page.say('fail with rate limit');
  page.dismissErrors();
  const id = page.messages[0]?.id ?? '';
  page.replace([{ id, role: 'user', content: 'What is the weather in Oslo?' }]);
  await page.run({ forwardedProps: { messageId: id } });

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
});

test.each(agUiVersions)('an earlier answer is given again, on %s', async version => {
  const page = open(served, version);
  await page.say('What is the weather in Oslo?');
  await page.say('What is the weather in Tokyo?');
  const [said] = page.messages;
  page.replace(page.messages.slice(0, 1));
  await page.run({ forwardedProps: { ...again, messageId: said?.id } });

  expect(page.errors).toEqual([]);
  expect(page.text).toMatch(/Oslo/);
  expect((await page.api.chat(page.id))?.messages).toHaveLength(2);
});

test.each(agUiVersions)('the same run twice at once is one turn, on %s', async version => {
  const page = open(served, version);
  const other = open(served, version, page);
  const said = { id: `said-${page.id}`, role: 'user', content: 'Send $20 to Sam' };
  for (const each of [page, other]) {
    each.replace([said]);
  }
  await Promise.all([page.run(), other.run()]);

  expect([...page.errors, ...other.errors]).toEqual([]);
  expect(other.interrupts).toEqual(page.interrupts);
  expect(await page.api.approvals()).toHaveLength(1);
});

test.each(agUiVersions)('an answer that is sent again counts once, on %s', async version => {
  const page = open(served, version);
  await page.say('Send $20 to Sam');
  const asked = structuredClone(page.messages);
  const resume = page.interrupts.map(({ id }) => ({
    interruptId: id,
    status: 'resolved' as const,
    payload: { approved: true },
  }));
  await page.run({ resume });
  const once = structuredClone(page.messages);
  page.replace(asked);
  await page.run({ resume });

  expect(page.errors).toEqual([]);
  expect(page.messages).toEqual(once);
  expect(await paid(page)).toHaveLength(1);
});
