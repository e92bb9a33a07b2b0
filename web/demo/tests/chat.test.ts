/** The chat: what a person says, approves and denies. */
import { expect, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('tells the weather, and folds its thoughts', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.clicks('What is the weather in Tokyo? runs on the server');
  await visitor.seesCards('get_weather: done');
  await visitor.reads(/18°C/);

  const thought = visitor.page.getByText('The user wants me to look up the weather in Tokyo.');
  expect(await thought.isVisible()).toBe(false);
  await visitor.page.getByText('Thought', { exact: true }).click();
  await thought.waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('pays once approved, and shows it in the wallet', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  await visitor.sees('$1,000');

  await visitor.says('Send $20 to Sam');
  await visitor.page.getByRole('heading', { name: 'Send 20 USD to Sam?' }).waitFor();
  await visitor.seesCards('process_payment: asked');
  await visitor.clicks('Approve');

  await visitor.seesCards('process_payment: done');
  await visitor.reads(/^I sent \$20 to Sam/);
  await visitor.sees('$980');
  expect(await visitor.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test('does not pay when denied, and tells the agent why', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Send $20 to Sam');
  await visitor.page.getByLabel('Reason, if you like').fill('not before Friday');
  await visitor.clicks('Deny');

  await visitor.seesCards('process_payment: denied');
  await visitor.reads(/^You denied .*: not before Friday\.$/);
  await visitor.sees('$1,000');
  expect(visitor.complaints).toEqual([]);
});

test('can be used with the keyboard alone', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { keyboard } = visitor.page;

  await visitor.page.getByRole('button', { name: /^Send \$20 to Sam/ }).focus();
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // The focus is in the field below the question: back over Deny to Approve.
  await keyboard.press('Shift+Tab');
  await keyboard.press('Shift+Tab');
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
  expect(visitor.complaints).toEqual([]);
});

test('asks about two payments side by side', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Send $30 to Alice and $40 to Bob');
  await visitor.seesCards('process_payment: asked', 2);
  const asked = (name: string) => visitor.cards('process_payment: asked').filter({ hasText: name });
  await asked('Alice').getByRole('button', { name: 'Approve' }).click();
  await asked('Alice').getByText('It goes ahead when the rest is answered.').waitFor();
  await asked('Bob').getByRole('button', { name: 'Deny' }).click();

  await visitor.reads(/^I sent \$30 to Alice.*denied.*Bob/);
  await visitor.seesCards('process_payment: done');
  await visitor.seesCards('process_payment: denied');
  await visitor.sees('$970');
  expect(visitor.complaints).toEqual([]);
});

test('asks twice about one flight, and a double click answers one question', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Book a flight to Oslo');
  await page.getByRole('heading', { name: 'Hold a seat to Oslo?' }).waitFor();
  await visitor.sawTheEnd();
  await visitor.clicks('Approve');
  await page.getByRole('heading', { name: /^Pay 120 USD for seat seat_/ }).waitFor();
  await visitor.sawTheEnd();
  // The other half of a double click, come late.
  await page.getByRole('button', { name: 'Approve' }).hover();
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await visitor.sees('$1,000');
  await visitor.clicks('Approve');

  await visitor.seesCards('book_flight: done');
  await visitor.reads(/flight to Oslo is booked/);
  await visitor.sees('$880');
  expect(visitor.complaints).toEqual([]);
});

test('takes something else for a no', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.says('What is the weather in London?');

  await visitor.reads(/12°C/);
  await visitor.seesCards('process_payment: denied');
  await visitor.reads('Left unanswered.');
  expect(await visitor.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await visitor.sees('$1,000');

  await visitor.page.reload();
  await visitor.seesCards('process_payment: denied');
  await visitor.reads('Left unanswered.');
  expect(visitor.complaints).toEqual([]);
});

test('speaks Japanese', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.clicks('花子さんに50ドル送金して 先に確認');
  await visitor.clicks('Approve');
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$950');
  expect(await visitor.page.locator('.assistant .speech[lang=ja]').count()).toBe(1);
  expect(visitor.complaints).toEqual([]);
});

test('shows the result of a report that comes later', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Write a report about tea');
  await visitor.reads(/^I have started/);
  await visitor.seesCards('write_report: running');
  await visitor.reads(/report about tea is finished/);
  await visitor.seesCards('write_report: done');
  expect(visitor.complaints).toEqual([]);
});

test('says what went wrong, and tries again', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  const words = 'The agent was asked too often. Try again in 17 seconds.';

  await visitor.says('Fail with rate limit');
  await page.getByRole('alert').getByText(words, { exact: true }).waitFor();
  const sent = page.waitForRequest(request => request.url().endsWith('/api/chat'));
  await visitor.clicks('Retry');
  expect((await sent).postDataJSON()).toMatchObject({ trigger: 'regenerate-message' });
  await page.getByRole('alert').getByText(words, { exact: true }).waitFor();
});

test('stops an answer for good', async () => {
  const server = await startServer({ pace: 15 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Take your time');
  await visitor.reads(/^You asked/);
  await visitor.clicks('Stop');
  await visitor.sawTheEnd();
  await visitor.reads('Stopped.');
  const chat = new URL(page.url()).hash.replace('#chat=', '');
  const stored = await (await fetch(`${server.url}/api/chat/${chat}`)).json();
  expect(stored.status).toBe('stopped');

  await page.reload();
  await visitor.reads('Stopped.');
});
