/** What outlives a page: a chat is named in its address, and continues where it was. */
import { expect, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('what was denied before a reload is denied after it', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Pay Ann $5 then Bob $6');
  await visitor.denies('no way');
  await visitor.seesCards('process_payment: asked');
  await visitor.page.reload();
  await visitor.sawTheEnd();
  await visitor.seesCards('process_payment: denied');
  await visitor.reads('no way');
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.seesCards('process_payment: denied');
  await visitor.sees('$994');
  expect(visitor.complaints).toEqual([]);
});

test('an answer goes on where the page was left', async () => {
  const server = await startServer({ pace: 15 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Send $20 to Sam, then tell me the weather in Tokyo');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // The server has the answer, and the page has not yet what comes of it.
  const posted = page.waitForResponse(response => response.request().method() === 'POST');
  await visitor.approves();
  await posted;
  await page.reload();

  await visitor.seesCards('process_payment: done');
  await visitor.seesCards('get_weather: done');
  await visitor.reads(/18°C/);
  await visitor.sees('$980');
  expect(await page.getByRole('article').count()).toBe(2);
});

test('an answer that ends while the page is loading is there to its end', async () => {
  const server = await startServer({ pace: 15 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('take your time');
  await visitor.reads(/word-/);
  const id = new URL(page.url()).hash.replace('#chat=', '');
  // The chat is loaded while its turn runs, and resumed when it does not any more.
  await page.route('**/api/chat/*/stream*', async route => {
    await fetch(`${server.url}/api/chat/${id}/stop`, { method: 'POST' });
    await route.continue();
  });
  const resumed = page.waitForResponse(/\/stream\b/);
  await page.reload();

  const response = await resumed;
  expect(response.status()).toBe(200);
  expect(await response.text()).toContain('"turn":"stopped"');
});

test('what was approved elsewhere goes on here, and music waits for a click', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Send $20 to Sam, then play track 1');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await server.answerWhatWaits();
  await page.reload();

  // Nobody has touched the page since it was loaded, so no browser lets sound out.
  await visitor.readsWithoutTouching('Track 1 waits for a click');
  await visitor.seesCards('process_payment: done');
  await visitor.seesCards('change_bgm: running');
  await visitor.clicks('Start music');
  await page.getByText('Playing track 1', { exact: true }).waitFor();
  await visitor.seesCards('change_bgm: done');
  await visitor.reads(/playing/);
  expect(visitor.complaints).toEqual([]);
});

test('a new chat is empty, and the old one is a step back', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('What is the weather in London?');
  await visitor.reads(/12°C/);
  await visitor.sawTheEnd();
  await visitor.clicks('New chat');
  await page.getByRole('heading', { name: 'Try one of these' }).waitFor();
  expect(await page.getByRole('article').count()).toBe(0);
  expect(new URL(page.url()).hash).toBe('');

  await page.goBack();
  await visitor.reads(/12°C/);
  expect(visitor.complaints).toEqual([]);
});

test('a chat that the server does not know is said to be unknown', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(`${server.url}#chat=gone`);

  await visitor.page.getByText('The server does not know this chat.').waitFor();
  await visitor.says('What is the weather in London?');
  await visitor.reads(/12°C/);
});
