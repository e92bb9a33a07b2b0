/** One chat, several windows: other tabs, other transports, other places to answer from. */
import { expect, test } from 'vitest';
import type { Sdk } from './server.ts';
import { startServer, type Transport, Visitor, withBrowser } from './visitor.ts';

withBrowser();

const ways: [Sdk, Transport][] = [
  [7, 'sse'],
  [7, 'bidi'],
  [6, 'sse'],
  [6, 'bidi'],
];

const inbox = /^Inbox/;

test.each(ways)('two tabs are both live: AI SDK %i, %s', async (sdk, transport) => {
  const server = await startServer({ sdk, pace: 15 });
  const one = await Visitor.at(server.url, { transport });
  await one.says('Send $20 to Sam');
  await one.seesCards('process_payment: asked');
  const context = one.page.context();
  const other = await Visitor.at(one.page.url(), { transport, context });
  await other.seesCards('process_payment: asked');
  await other.sawTheEnd();
  await other.approves();

  for (const visitor of [other, one]) {
    await visitor.seesCards('process_payment: done');
    await visitor.reads(/^I sent \$20 to Sam/);
    await visitor.sees('$980');
  }
  // What is said in one is answered before the eyes of both, and what plays, plays once.
  await one.says('Play track 1');
  await other.reads('Play track 1');
  for (const visitor of [one, other]) {
    await visitor.seesCards('change_bgm: done');
    await visitor.reads(/^Track 1 is playing/);
  }
  const playing = (visitor: Visitor) => visitor.page.getByText('Playing track 1').count();
  expect((await playing(one)) + (await playing(other))).toBe(1);
  expect([...one.complaints, ...other.complaints]).toEqual([]);
});

test.each([7, 6] as const)('a chat changes its transport, AI SDK %i', async sdk => {
  const server = await startServer({ sdk });
  const visitor = await Visitor.at(server.url, { transport: 'sse' });
  const { page } = visitor;
  let sockets = 0;
  page.on('websocket', () => sockets++);

  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // Asked over one, read on over the other.
  await visitor.clicks('BIDI');
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
  await visitor.says('What is the weather in London?');
  await visitor.reads(/12°C/);
  await page.getByText('Socket is open').waitFor();
  expect(sockets).toBe(1);

  await visitor.sawTheEnd();
  await visitor.clicks('SSE');
  await visitor.says('What is the weather in New York?');
  await visitor.reads(/10°C/);
  await visitor.sawTheEnd();
  expect(await page.getByRole('article', { name: 'You' }).count()).toBe(4);
  await page.reload();
  await visitor.reads(/10°C/);
  expect(await page.getByRole('article').count()).toBe(8);
  expect(visitor.complaints).toEqual([]);
});

test('what waits anywhere is in the inbox, and is answered there', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  const first = visitor.chat;
  await visitor.clicks('New chat');
  await visitor.says('Send $7 to Ann');
  await visitor.seesCards('process_payment: asked');

  await page.getByRole('button', { name: 'Inbox, 2 waiting' }).click();
  const panel = page.getByRole('complementary');
  const card = (who: string) =>
    panel.getByRole('group', { name: 'process_payment: asked' }).filter({ hasText: who });
  await visitor.consents(card('Sam?').getByRole('button', { name: 'Approve' }));
  await visitor.sees('$980');
  await page.getByRole('button', { name: 'Inbox, 1 waiting' }).waitFor();
  // The chat beside it continues, too.
  await card('Ann?').getByRole('button', { name: 'Deny' }).click();
  await card('Ann?').getByLabel('Why not? The agent gets your reason.').fill('no');
  await card('Ann?').getByRole('button', { name: 'Deny it' }).click();
  await visitor.seesCards('process_payment: denied');
  await visitor.reads(/^You denied/);
  await panel.getByText('Nothing waits for you, in any chat.').waitFor();

  await page.goto(`${server.url}#chat=${first}`);
  await visitor.reads(/^I sent \$20 to Sam/);
  expect(visitor.complaints).toEqual([]);
});

test('the inbox leads to the chat in which something waits', async () => {
  const server = await startServer();
  await server.tell('elsewhere', 'u1', 'Send $9 to Eve');
  const visitor = await Visitor.at(server.url);
  await visitor.page.getByRole('button', { name: inbox }).click();
  await visitor.clicks('Open its chat');
  await visitor.seesCards('process_payment: asked');
  expect(visitor.chat).toBe('elsewhere');
});

test('an answer that somebody else gives by the API is shown here', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await server.answerWhatWaits({ approved: false, reason: 'by the API' });
  await visitor.seesCards('process_payment: denied');
  await visitor.reads('by the API');
  expect(visitor.complaints).toEqual([]);
});

test('a tab that nobody sees runs its tools', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, {
    geolocation: { latitude: 59.9139, longitude: 10.7522 },
    permissions: ['geolocation'],
  });
  const { page } = visitor;
  await visitor.says('Play track 1, then tell me where I am');
  await visitor.seesCards('change_bgm: done');
  await visitor.seesCards('get_location: asked');
  await visitor.sawTheEnd();
  // Browsers without a screen hide no tab; to the page, this one is hidden.
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await server.answerWhatWaits();
  await visitor.seesCards('get_location: done');
  await visitor.reads(/59\.9139, 10\.7522/);
});
