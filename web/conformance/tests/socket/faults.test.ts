/** The socket is cut at every frame of an approval: the messages are the same, money moves once. */
import type { UIMessage } from 'ai-7';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { faultsOf } from '../../src/faults.ts';
import { chatSdks, type Major } from '../../src/sdk.ts';
import { type Decision, FrameProxy, type Passing } from '../../src/server/frame-proxy.ts';
import { shown } from '../../src/server/shown.ts';
import type { SocketClient } from '../../src/server/socket-connection.ts';
import type { Tab } from '../../src/server/tab.ts';
import { toolParts } from '../../src/tool-part.ts';
import { serve } from '../turn/served.ts';
import { expectLastWord, expectPaid, expectServed, outline } from '../turn/sound.ts';

// Slow enough that a turn continues while its page is gone, and still does when it is back.
const served = serve({ pace: 1 });

type Client = { major: Major; socketClient: SocketClient };

async function proxied(
  { major, ...client }: Client,
  decide: (passing: Passing) => Decision,
): Promise<{ tab: Tab; proxy: FrameProxy }> {
  const proxy = await FrameProxy.start(() => served.server.url, decide);
  onTestFinished(() => proxy.stop());
  const options = { ...client, transport: 'socket', socketOrigin: () => proxy.url } as const;
  return { tab: served.open(major, options), proxy };
}

/** How many frames an approval takes, both ways, when nothing is cut. */
async function frames(client: Client): Promise<Passing[]> {
  const { tab, proxy } = await proxied(client, () => 'pass');
  await tab.say('Send $20 to Sam');
  await tab.approve(tab.call('process_payment'));
  await expectPaidOnce(tab);
  return proxy.passed;
}

async function expectPaidOnce(tab: Tab): Promise<void> {
  expect(tab.page.error).toBeUndefined();
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  expect(tab.sawBack).toBe(false);
  expect(await faultsOf(tab.messages, chatSdks[tab.major])).toEqual([]);
  expectLastWord(tab, /Sam/);
  if (tab.reconnects) {
    await expectServed(tab);
  } else {
    // A stream that is resumed says the outcome of a call, and not that somebody had said yes to it.
    const chat = await tab.api.chat(tab.id);
    expect(chat?.status).toBe('finished');
    expect(shown(withoutAnswers(chat?.messages ?? []))).toEqual(
      shown(withoutAnswers(tab.messages)),
    );
  }
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
}

function withoutAnswers(messages: UIMessage[]): UIMessage[] {
  const copies = structuredClone(messages);
  for (const part of copies.flatMap(toolParts)) {
    delete part.approval;
  }
  return copies;
}

/** Plays the flow once for each frame, with a connection that is cut in front of that frame. */
async function cutEverywhere(client: Client, play: (tab: Tab) => Promise<Tab>): Promise<number> {
  let at = '';
  onTestFailed(() => {
    process.stderr.write(`cut ${at}\n`);
  });
  const all = await frames(client);
  for (const { direction, number, frame } of all) {
    let cuts = 0;
    const { tab, proxy } = await proxied(client, passing =>
      passing.number === number && cuts++ === 0 ? 'cut' : 'pass',
    );
    at = `in front of frame ${number}, ${direction}, ${frame.type}`;
    const last = await play(tab);
    expect(cuts, 'the cut was made').toBeGreaterThan(0);
    await expectPaidOnce(last);
    proxy.stop();
  }
  return all.length;
}

describe.each(['6', '7'] as const)('our transport, on version %s', major => {
  const client: Client = { major, socketClient: 'ours' };

  test('goes on by itself wherever it is cut', { timeout: 60_000 }, async () => {
    const count = await cutEverywhere(client, async tab => {
      await tab.say('Send $20 to Sam');
      await tab.approve(tab.call('process_payment'));
      return tab;
    });
    expect(count).toBeGreaterThan(20);
  });

  test('does not mind a cut between two windows', async () => {
    const { tab, proxy } = await proxied(client, () => 'pass');
    await tab.say('Send $20 to Sam');
    proxy.cut();
    await tab.approve(tab.call('process_payment'));
    await expectPaidOnce(tab);
  });

  test('does not mind a connection that is cut again and again', async () => {
    let frames = 0;
    const { tab } = await proxied(client, () => (++frames % 23 === 0 ? 'cut' : 'pass'));
    await tab.say('Send $20 to Sam');
    await tab.approve(tab.call('process_payment'));
    await expectPaidOnce(tab);
  });
});

describe('the official transport', () => {
  const client: Client = { major: '7', socketClient: 'official' };

  /** What a person does whose page shows an error: tries again, and loads the page if that is vain. */
  async function mend(tab: Tab): Promise<Tab> {
    if (tab.page.error === undefined) {
      return tab;
    }
    await tab.resume();
    if (tab.page.error === undefined && tab.connection.nothingToResume === 0) {
      return tab;
    }
    const loaded = await served.reopen(tab);
    await loaded.resume();
    return loaded;
  }

  async function play(tab: Tab): Promise<Tab> {
    await tab.say('Send $20 to Sam');
    const page = await mend(tab);
    if (page.messages.length === 0) {
      await page.say('Send $20 to Sam');
    }
    return click(page);
  }

  /** Whether a click was received can't be known; a second one does no harm. */
  async function click(tab: Tab): Promise<Tab> {
    let page = tab;
    for (let clicks = 0; clicks < 2; clicks++) {
      const [payment] = page.calls('process_payment');
      if (payment?.state === 'approval-requested') {
        await page.approve(payment);
        page = await mend(page);
      }
    }
    return page;
  }

  test('ends the same wherever it is cut', { timeout: 60_000 }, async () => {
    expect(await cutEverywhere(client, play)).toBeGreaterThan(20);
  });

  test('does not mind a cut between two windows', async () => {
    const { tab, proxy } = await proxied(client, () => 'pass');
    await tab.say('Send $20 to Sam');
    proxy.cut();
    await expectPaidOnce(await click(tab));
  });
});
