/**
 * The deadlock of ADR 0011: a client keeps an answer to itself while a window is open, and a window
 * that waits for the answer never closes. Seen on windows that are wrong on purpose, so that it would
 * be seen on ours.
 */
import { setImmediate as nextTask } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { Api } from '../../src/server/api.ts';
import { BodyProxy } from '../../src/server/body-proxy.ts';
import { FrameProxy } from '../../src/server/frame-proxy.ts';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import type { ToolPart } from '../../src/tool-part.ts';
import { serve } from '../turn/served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound } from '../turn/sound.ts';

const served = serve();

/** The question, as soon as the page shows it. */
async function question(tab: Tab): Promise<ToolPart> {
  for (;;) {
    const [part] = tab.calls('process_payment');
    if (part?.state === 'approval-requested') {
      return part;
    }
    await nextTask();
  }
}

describe.each(majors)('a window that never closes, on version %s', major => {
  /** Clicks while the window is kept open, sees that nothing is sent, and lets it close. */
  async function expectDeadlock(tab: Tab, proxy: { held: number; release: () => void }) {
    tab.begin('Send $20 to Sam');
    const part = await question(tab);
    await until('the end is kept back', () => proxy.held === 1);
    tab.answer(part, true);
    expect(tab.call('process_payment').state).toBe('approval-responded');
    // Many round trips to the server, in which an answer would have arrived.
    for (let round = 0; round < 25; round++) {
      expect(await tab.api.approvals()).toHaveLength(1);
    }
    expect(tab.posts).toBe(1);
    expect(tab.page.isBusy).toBe(true);

    proxy.release();
    await expectSound(tab, { posts: 2 });
    expectLastWord(tab, /Sam/);
    await expectServed(tab);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
  }

  test('keeps the answer over a socket', async () => {
    let isWrong = true;
    const proxy = await FrameProxy.start(
      () => served.server.url,
      ({ frame: { type } }) => {
        if (!isWrong || type !== 'end') {
          return 'pass';
        }
        isWrong = false;
        return 'hold';
      },
    );
    onTestFinished(() => proxy.stop());
    const socketOrigin = () => proxy.url;
    await expectDeadlock(served.open(major, { transport: 'socket', socketOrigin }), proxy);
  });

  test('keeps the answer over HTTP', async () => {
    const proxy = await BodyProxy.start(() => served.server.url);
    onTestFinished(() => proxy.stop());
    const api = new Api(() => proxy.url, served.server.newPrincipal());
    await expectDeadlock(served.open(major, { transport: 'sse', api }), proxy);
  });
});

/** How soon an answer has to be at the server, and be taken, after the click. */
const soonMilliseconds = 100;

const tries = 20;

describe.each(['socket', 'sse'] as const)('our window, by %s', transport => {
  test.each(majors)('lets the answer through at once, on version %s', async major => {
    const delays: number[] = [];
    for (let count = 0; count < tries; count++) {
      const tab = served.open(major, { transport });
      tab.begin('Send $20 to Sam');
      const part = await question(tab);
      const clicked = performance.now();
      tab.answer(part, true);
      await tab.quiet();
      // The server opens the second window when the answer is in its journal.
      delays.push((tab.windows[1]?.heardAt ?? Number.POSITIVE_INFINITY) - clicked);
      expect(tab.posts).toBe(2);
      await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
    }
    const sorted = delays.sort((a, b) => a - b).map(delay => Math.round(delay * 10) / 10);
    const median = sorted[tries / 2];
    process.stdout.write(
      `click to server by ${transport} on version ${major}: ${median} ms, at most ${sorted.at(-1)}\n`,
    );
    expect(median).toBeLessThan(soonMilliseconds);
  });
});
