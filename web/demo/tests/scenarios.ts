/**
 * Every scenario of the legacy bridge, for one transport and the page that was built for one major of the AI
 * SDK: the real binary, the real page, a real browser. Each way has a file of its own, so that they run
 * side by side.
 */
import { expect, test } from 'vitest';
import { listen } from './audio-output.ts';
import type { Sdk } from './server.ts';
import { startServer, type Transport, Visitor, withBrowser } from './visitor.ts';

const oslo = { latitude: 59.9139, longitude: 10.7522, accuracy: 25 };

export function scenarios(sdk: Sdk, transport: Transport): void {
  withBrowser();

  // The legacy bridge's live model makes one call at a time, the other one all at once.
  const agent = transport === 'bidi' ? 'demo-live' : 'demo';

  test('a payment that is approved', async () => {
    const server = await startServer({ sdk, agent });
    const visitor = await Visitor.at(server.url, { transport });
    await visitor.sees('$1,000');
    await visitor.says('Send $20 to Sam');
    await visitor.page.getByRole('heading', { name: 'Send 20 USD to Sam?' }).waitFor();
    await visitor.seesCards('process_payment: asked');
    await visitor.approves();

    await visitor.seesCards('process_payment: done');
    await visitor.reads(/^I sent \$20 to Sam/);
    await visitor.sees('$980');
    expect(await visitor.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  });

  test('a payment that is denied, and why', async () => {
    const server = await startServer({ sdk, agent });
    const visitor = await Visitor.at(server.url, { transport });
    await visitor.says('Send $20 to Sam');
    await visitor.denies('not before Friday');

    await visitor.seesCards('process_payment: denied');
    await visitor.reads(/^You denied .*: not before Friday\.$/);
    await visitor.sees('$1,000');
    expect(visitor.complaints).toEqual([]);
  });

  test('a payment that nobody answers in time', async () => {
    const server = await startServer({ sdk, agent, approvalTimeout: 6 });
    const visitor = await Visitor.at(server.url, { transport });
    await visitor.says('Send $20 to Sam');
    await visitor.seesCards('process_payment: asked');
    await visitor.reads(/^[1-6] s left$/);

    await visitor.seesCards('process_payment: timed out');
    await visitor.reads(/^Nobody answered in time about/);
    await visitor.sees('$1,000');
    expect(visitor.complaints).toEqual([]);
  });

  test('two payments', async () => {
    const server = await startServer({ sdk, agent });
    const visitor = await Visitor.at(server.url, { transport });
    await visitor.says('Send $30 to Alice and $40 to Bob');
    if (agent === 'demo') {
      await visitor.seesCards('process_payment: asked', 2);
      await visitor.sawTheEnd();
    }
    await visitor.approves();
    // What was approved is done at once, while the other waits.
    await visitor.seesCards('process_payment: done');
    await visitor.sees('$970');
    await visitor.seesCards('process_payment: asked');
    await visitor.sawTheEnd();
    await visitor.approves();

    await visitor.seesCards('process_payment: done', 2);
    await visitor.reads(/^I sent \$30 to Alice.*\$40 to Bob/);
    await visitor.sees('$930');
    expect(visitor.complaints).toEqual([]);
  });

  test('music that is audible', async () => {
    const server = await startServer({ sdk, agent });
    const visitor = await Visitor.at(server.url, { transport });
    const audio = await listen(visitor.page);
    await visitor.says('Play track 1');
    await visitor.seesCards('change_bgm: done');
    await visitor.reads(/^Track 1 is playing/);
    // Only the first track has this C, and only the second this F sharp.
    await audio.untilTone(1046.5);
    await visitor.says('Play track 2');
    await visitor.page.getByText('Playing track 2', { exact: true }).waitFor();
    await visitor.seesCards('change_bgm: done', 2);
    await audio.untilTone(369.99);
    expect(visitor.complaints).toEqual([]);
  });

  test('a location that the browser tells', async () => {
    const server = await startServer({ sdk, agent });
    const visitor = await Visitor.at(server.url, {
      transport,
      geolocation: oslo,
      permissions: ['geolocation'],
    });
    await visitor.says('Where am I?');
    await visitor.page
      .getByRole('heading', { name: 'Tell the assistant where you are?' })
      .waitFor();
    await visitor.approves();
    await visitor.seesCards('get_location: done');
    await visitor.reads(/^You are at 59\.9139, 10\.7522/);
    expect(visitor.complaints).toEqual([]);
  });

  test('a location that the browser may not tell, and one that the person does not', async () => {
    const server = await startServer({ sdk, agent });
    const visitor = await Visitor.at(server.url, { transport, permissions: [] });
    await visitor.says('Where am I?');
    await visitor.approves();
    await visitor.seesCards('get_location: failed');
    await visitor.reads(/The browser was not allowed to say where it is\.$/);

    await visitor.says('Where am I?');
    await visitor.denies();
    await visitor.seesCards('get_location: denied');
    await visitor.reads(/^You denied/);
    expect(visitor.complaints).toEqual([]);
  });

  test('a question that is reloaded, and one that outlives the server', async () => {
    const server = await startServer({ sdk, agent, isDurable: true });
    const visitor = await Visitor.at(server.url, { transport });
    await visitor.says('Send $20 to Sam');
    await visitor.seesCards('process_payment: asked');
    await visitor.sawTheEnd();
    await visitor.page.reload();
    await visitor.seesCards('process_payment: asked');
    await visitor.sawTheEnd();

    await server.kill();
    await visitor.page.getByText('Server is away').waitFor();
    await server.restart();
    await visitor.page.getByText(/Server is up|Socket/).waitFor();
    await visitor.seesCards('process_payment: asked');
    await visitor.approves();
    await visitor.seesCards('process_payment: done');
    await visitor.reads(/^I sent \$20 to Sam/);
    await visitor.sees('$980');
  });
}
