/** An agent with others inside, and one whose connection is cut: what the page shows of them. */
import { expect, test } from 'vitest';
import { startFakeAdk } from './fakeAdk.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('who asks is shown with its path, in the chat and in the inbox', async () => {
  const server = await startServer({ agent: 'adk', adk: await startFakeAdk() });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Pay Ann');
  const card = visitor.cards('pay: asked');
  await card.getByText('root › payments asks').waitFor();
  await card.getByText('Pay 5 to Ann?').waitFor();
  const [approval] = await server.approvals();
  expect(approval).toMatchObject({ path: ['root', 'payments'] });
  await page.getByRole('button', { name: 'Inbox, 1 waiting' }).click();
  await page.getByText('root › payments asks').nth(1).waitFor();
  await page.keyboard.press('Escape');
  await server.answerWhatWaits();
  await visitor.reads('Paid.');
  await visitor.seesCards('pay: done');
});

test('an outcome that nobody knows says why, in both languages', async () => {
  const server = await startServer({ agent: 'adk', adk: await startFakeAdk() });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Break');
  const card = visitor.cards('pay: unknown');
  await card.getByText(/^The connection to the agent was cut while this ran\./).waitFor();
  await page.getByText('the connection to the agent was cut while it ran').waitFor();
  const japanese = await Visitor.at(page.url(), { locale: 'ja-JP' });
  await japanese.page.getByText(/^実行中にエージェントとの接続が切れました。/).waitFor();
});
