/** What was said differently, and answered again: every version stays, and can be gone back to. */
import { expect, test } from 'vitest';
import { barriers } from './looks.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('an answer that is given again leaves the one before it to go back to', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  const versions = page.getByRole('group', { name: 'Versions' });
  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.sawTheEnd();
  expect(await versions.count()).toBe(0);

  await visitor.clicks('Answer again');
  await versions.getByText('2 of 2').waitFor();
  const answer = () => page.getByRole('article', { name: 'Agent' });
  expect(await answer().count()).toBe(1);
  await visitor.clicks('Previous version');
  await versions.getByText('1 of 2').waitFor();
  await page.getByText('went to another version').waitFor();
  await visitor.reads(/18°C/);

  // It is where the server has the chat, too: what is said next follows it.
  await page.reload();
  await versions.getByText('1 of 2').waitFor();
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  // A question waits: no other version can be shown now.
  expect(await page.getByRole('button', { name: 'Next version' }).isDisabled()).toBe(true);
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.sawTheEnd();
  await visitor.clicks('Next version');
  await versions.getByText('2 of 2').waitFor();
  await visitor.cards('process_payment: done').waitFor({ state: 'detached' });
  await visitor.clicks('Previous version');
  await visitor.seesCards('process_payment: done');
  expect(visitor.complaints).toEqual([]);
});

test('what is said differently is another version, in every tab', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.sawTheEnd();
  const other = await Visitor.at(page.url(), { context: page.context() });
  await other.reads(/18°C/);

  await visitor.clicks('Say it differently');
  const field = page.getByLabel('What you say instead');
  expect(await field.inputValue()).toBe('What is the weather in Tokyo?');
  // As long as the other: a page has to look at the words themselves.
  await field.fill('What is the weather in Paris?');
  await visitor.photographs('rewrite-desktop');
  expect(await barriers(page)).toEqual([]);
  await field.press('Enter');
  for (const { page } of [visitor, other]) {
    await page.getByRole('group', { name: 'Versions' }).getByText('2 of 2').waitFor();
    await page.getByRole('article', { name: 'You' }).getByText(/Paris/).waitFor();
  }
  await visitor.sawTheEnd();
  await visitor.photographs('versions-desktop');
  expect(await barriers(page)).toEqual([]);
  await other.clicks('Previous version');
  for (const { page } of [visitor, other]) {
    await page.getByRole('group', { name: 'Versions' }).getByText('1 of 2').waitFor();
    await page.getByRole('article', { name: 'You' }).getByText(/Tokyo/).waitFor();
  }
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});

test('on a phone and in Japanese', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, {
    locale: 'ja-JP',
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  const { page } = visitor;
  const field = page.getByLabel('メッセージ', { exact: true });
  await field.fill('東京の天気を教えて');
  await field.press('Enter');
  await visitor.reads(/18/);
  await visitor.clicks('もう一度答える');
  const versions = page.getByRole('group', { name: '別の版' });
  await versions.getByText('2 / 2').waitFor();
  await page.getByRole('button', { name: 'もう一度答える' }).waitFor();
  await visitor.photographs('versions-phone');
  expect(await barriers(page)).toEqual([]);
  await visitor.clicks('言い直す');
  await visitor.photographs('rewrite-phone');
  await visitor.clicks('やめる');

  await field.fill('花子さんに50ドル送金して');
  await field.press('Enter');
  await visitor.seesCards('process_payment: 確認待ち');
  await field.fill('大阪の天気は？');
  await visitor.clicks('後で送信');
  await page.getByRole('region', { name: '待機中のメッセージ' }).waitFor();
  await visitor.photographs('queue-japanese-phone');
  expect(await barriers(page)).toEqual([]);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, 'nothing sticks out at the side').toBeLessThanOrEqual(0);
  expect(visitor.complaints).toEqual([]);
});
