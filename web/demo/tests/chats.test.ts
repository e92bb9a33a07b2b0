/** The list of chats: opened, named, put away, deleted and searched. */
import { expect, test } from 'vitest';
import { barriers } from './looks.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('chats are listed as they change, and opened, renamed, archived, deleted and searched', async () => {
  const server = await startServer({ sdk: 7 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await page.getByRole('button', { name: 'Chats', exact: true }).click();
  const list = page.getByRole('list', { name: 'Your chats' });
  await page.getByText('No chats here yet.').waitFor();

  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  const paying = list.getByRole('button', { name: /^Send \$20 to Sam/ });
  await paying.getByText('waits for an answer · 1 waiting').waitFor();
  const first = visitor.chat;
  await visitor.clicks('New chat');
  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  const weather = list.getByRole('button', { name: /^What is the weather/ });
  await weather.getByText('finished').waitFor();
  expect(await list.getByRole('listitem').count()).toBe(2);

  // Answered elsewhere, it changes here.
  const { approvals } = await (await fetch(`${server.url}/api/approvals`)).json();
  await fetch(`${server.url}/api/approvals/${approvals[0].approvalId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"approved":true}',
  });
  await paying.getByText('finished').waitFor();
  await page.getByRole('button', { name: 'Inbox', exact: true }).waitFor();

  await paying.click();
  await visitor.reads(/^I sent \$20 to Sam/);
  expect(visitor.chat).toBe(first);

  await page.getByRole('button', { name: 'Rename “Send $20 to Sam”' }).click();
  const field = page.getByRole('textbox', { name: 'Title of the chat' });
  await field.fill('Sam’s money');
  await field.press('Enter');
  await list.getByRole('button', { name: /^Sam’s money/ }).waitFor();
  const focused = page.locator(':focus');
  expect(await focused.getAttribute('aria-label')).toBe('Rename “Sam’s money”');

  await page.getByRole('searchbox', { name: 'Search titles' }).fill('WEATHER');
  await list.getByRole('button', { name: /^Sam’s money/ }).waitFor({ state: 'detached' });
  await weather.waitFor();
  await page.getByRole('searchbox', { name: 'Search titles' }).fill('nothing of the kind');
  await page.getByText('No title contains that.').waitFor();
  await page.getByRole('searchbox', { name: 'Search titles' }).fill('');
  await weather.waitFor();
  expect(await barriers(page)).toEqual([]);
  await visitor.photographs('chats-desktop');

  await page.getByRole('button', { name: /^Archive “What is the weather/ }).click();
  await weather.waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: 'Archived chats' }).check();
  await weather.waitFor();
  await page
    .getByRole('button', { name: /^Take “What is the weather.*out of the archive$/ })
    .click();
  await page.getByRole('checkbox', { name: 'Archived chats' }).uncheck();
  await weather.waitFor();

  await page.getByRole('button', { name: 'Delete “Sam’s money”' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await list.getByRole('button', { name: /^Sam’s money/ }).waitFor({ state: 'detached' });
  // It was open: now a new one is.
  await page.getByRole('heading', { level: 1, name: 'A turn is not a request' }).waitFor();
  expect((await fetch(`${server.url}/api/chat/${first}`)).status).toBe(404);
  expect(visitor.complaints).toEqual([]);
});

test('the list is there on a phone, in Japanese', async () => {
  const server = await startServer({ sdk: 7 });
  const phone = { viewport: { width: 320, height: 700 }, isMobile: true, hasTouch: true };
  await server.tell('c', 'u1', 'こんにちは');
  const visitor = await Visitor.at(server.url, { ...phone, locale: 'ja-JP' });
  const { page } = visitor;
  const last = await page.getByRole('banner').getByRole('button').last().boundingBox();
  expect((last?.x ?? 320) + (last?.width ?? 0), 'every button has room').toBeLessThanOrEqual(320);
  await page.getByRole('button', { name: 'チャット一覧' }).click();
  const list = page.getByRole('list', { name: 'チャット一覧' });
  await list.getByRole('button', { name: /^こんにちは/ }).waitFor();
  expect(await barriers(page)).toEqual([]);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(320);
  await visitor.photographs('chats-phone');
  await list.getByRole('button', { name: /^こんにちは/ }).click();
  await list.waitFor({ state: 'detached' });
});
