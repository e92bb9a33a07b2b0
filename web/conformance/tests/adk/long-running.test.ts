/** ADK's long-running tools: their results come from a page, or from a worker. */
import { describe, expect, test } from 'vitest';
import type { Api, Refusal } from '../../src/server/api.ts';
import { textOf } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { pages, serveFaulty, twoPages } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound, outline, servedAs } from '../turn/sound.ts';
import { apps, asked, call, newCall, says } from './probe.ts';

type Given = { status: number; body: Refusal | { toolCallId: string; taken: boolean } };

/** Gives the outcome of a call, as a worker does. */
async function give(api: Api, id: string, body: object | string): Promise<Given> {
  const response = await api.fetch(`/api/calls/${encodeURIComponent(id)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe.each(apps)('%s', app => {
  const served = serveFaulty({ adkApp: app });

  test.each(pages)('a page runs it, on version $major over $transport', async page => {
    const id = newCall();
    await served.emulator.follow([says(call('play', id, { track: 2 })), says('It plays.')]);
    const tab = served.visit(page, { tools: { play: () => ({ output: { playing: 2 } }) } });
    await tab.say('Play something');

    await expectSound(tab, { posts: 2 });
    expect(tab.ran).toMatchObject([{ toolName: 'play', input: { track: 2 } }]);
    expect(outline(tab.messages)).toEqual([['play: output-available']]);
    expectLastWord(tab, /It plays/);
    await expectServed(tab);
    const requests = await asked(served.emulator);
    expect(requests).toHaveLength(2);
    expect(requests[1]?.at(-1)).toBe(`response ${id} {"playing":2}`);
  });

  test.each(twoPages)('a worker brings it, on version $major over $transport', async page => {
    const id = newCall();
    await served.emulator.follow([says(call('play', id, { track: 2 })), says('It plays.')]);
    const tab = served.visit(page);
    await tab.say('Play something');
    await expectServed(tab, 'parked');
    const { toolCallId } = tab.call('play');
    const output = { playing: 2 };
    expect(await give(tab.api, toolCallId, { output })).toEqual({
      status: 200,
      body: { toolCallId, taken: true },
    });
    // The first one counts, and a later one is refused.
    expect(await give(tab.api, toolCallId, { output: { playing: 3 } })).toEqual({
      status: 200,
      body: { toolCallId, taken: false },
    });

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['play: output-available']]);
    expect(textOf(chat.messages.at(-1))).toBe('It plays.');
    expect((await asked(served.emulator))[1]?.at(-1)).toBe(`response ${id} {"playing":2}`);
    const other = await served.reopen(tab);
    await expectServed(other);
  });

  test.each(twoPages)('a worker fails, on version $major over $transport', async page => {
    const id = newCall();
    await served.emulator.follow([says(call('play', id, { track: 2 })), says('A pity.')]);
    const tab = served.visit(page);
    await tab.say('Play something');
    const { toolCallId } = tab.call('play');
    expect(await give(tab.api, toolCallId, { error: 'no speaker' })).toMatchObject({
      status: 200,
      body: { taken: true },
    });

    const chat = await servedAs(tab, 'finished');
    expect(outline(chat.messages)).toEqual([['play: output-error']]);
    expect((await asked(served.emulator))[1]?.at(-1)).toBe(`response ${id} {"error":"no speaker"}`);
  });

  test('what is no output is refused with a reason', async () => {
    const [play, pay] = [newCall(), newCall()];
    await served.emulator.follow([
      says(call('play', play, { track: 2 })),
      says('It plays.'),
      says(call('pay', pay, { to: 'Ann' })),
    ]);
    const tab = served.open('7');
    await tab.say('Play something');
    const { toolCallId } = tab.call('play');
    for (const body of ['{', '{}', { output: 1, error: 'both' }, { error: 5 }, { result: 1 }]) {
      expect(await give(tab.api, toolCallId, body)).toMatchObject({
        status: 400,
        body: { error: { code: 'bad_request' } },
      });
    }
    const stranger = served.meet();
    for (const [api, id] of [
      [tab.api, 'call-invented'],
      [stranger, toolCallId],
    ] as const) {
      expect(await give(api, id, { output: 1 })).toMatchObject({
        status: 404,
        body: { error: { code: 'unknown_call' } },
      });
    }
    expect((await tab.api.chat(tab.id))?.status).toBe('parked');
    await give(tab.api, toolCallId, { output: 1 });
    await servedAs(tab, 'finished');

    const other = await served.reopen(tab);
    await other.say('Pay Ann');
    expect(await give(other.api, other.call('pay').toolCallId, { output: 1 })).toMatchObject({
      status: 409,
      body: { error: { code: 'forged_output' } },
    });
  });

  test.each(twoPages)(
    'one that asks first is run once it is allowed, on version $major over $transport',
    async page => {
      const id = newCall();
      await served.emulator.follow([says(call('locate', id)), says('In Oslo.')]);
      const tab = served.visit(page);
      await tab.say('Where am I?');
      expect(outline(tab.messages)).toEqual([['locate: approval-requested']]);
      expect(await tab.api.approvals()).toMatchObject([{ question: 'Tell where you are?' }]);
      const { toolCallId, approval } = tab.call('locate');
      expect(await give(tab.api, toolCallId, { output: 1 })).toMatchObject({
        status: 409,
        body: { error: { code: 'call_not_open' } },
      });
      await tab.api.answer(approval?.id ?? '', { approved: true });
      expect((await give(tab.api, toolCallId, { output: { city: 'Oslo' } })).status).toBe(200);

      await servedAs(tab, 'finished');
      const requests = await asked(served.emulator);
      expect(requests).toHaveLength(2);
      expect(requests[1]?.at(-1)).toBe(`response ${id} {"city":"Oslo"}`);
    },
  );

  test.each(twoPages)(
    'one that gives a first answer is waited for after the model spoke, on version $major over $transport',
    async page => {
      const id = newCall();
      await served.emulator.follow([
        says(call('order', id)),
        says('It is on its way.'),
        says('It is here.'),
      ]);
      const tab = served.visit(page);
      await tab.say('Order a pizza');
      expect(tab.text).toBe('It is on its way.');
      await expectServed(tab, 'parked');
      const waiting = await until('the call waits', async () => {
        return tab.calls('order').find(part => part.state === 'input-available');
      });
      expect((await give(tab.api, waiting.toolCallId, { output: { eaten: true } })).status).toBe(
        200,
      );

      const chat = await servedAs(tab, 'finished');
      expect(textOf(chat.messages.at(-1))).toBe('It is on its way.It is here.');
      expect((await asked(served.emulator))[2]).toContain(`response ${id} {"eaten":true}`);
    },
  );
});
