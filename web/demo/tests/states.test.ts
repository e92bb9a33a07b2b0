/** Each state of a call says what is true. */
import { expect, onTestFinished, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('a payment that was approved and failed is not stamped as approved', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  await visitor.says('Send $5000 to Sam');
  await visitor.approves();
  const card = visitor.cards('process_payment: failed');
  await card.getByText(/^approved by local, /).waitFor();
  await card.getByText('Asked: Send 5000 USD to Sam?', { exact: true }).waitFor();
  await card.getByText('FAILED', { exact: true }).waitFor();
  expect(await card.getByText('APPROVED', { exact: true }).count()).toBe(0);
  await visitor.page.getByText('process_payment failed', { exact: true }).waitFor();
  await visitor.photographs('failed');
});

test('a question that timed out is signed by nobody', async () => {
  const server = await startServer({ approvalTimeout: 1 });
  const visitor = await Visitor.at(server.url);
  await visitor.says('Send $20 to Sam');
  const card = visitor.cards('process_payment: timed out');
  await card.getByText(/^nobody answered in time, /).waitFor();
  await card.getByText('Asked: Send 20 USD to Sam?', { exact: true }).waitFor();
  expect(await card.innerText()).not.toContain('local');
});

test('what was changed says what ran, and what was asked', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.clicks('Edit');
  await page.getByLabel('recipient').fill('Ann');
  await visitor.consents(page.getByRole('button', { name: 'Approve this' }));
  const card = visitor.cards('process_payment: done');
  await card.getByText('Send $20 to Ann', { exact: true }).waitFor();
  await card.getByText('Asked: Send 20 USD to Sam? The input was changed by hand.').waitFor();
  await page.reload();
  await card.getByText('Send $20 to Ann', { exact: true }).waitFor();
});

test('a report that goes on by itself is not done before it is, whatever is said meanwhile', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  // Until it has the journal, the page knows of no result, however fast the report is.
  let release = () => {};
  const isReleased = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route('**/api/chat/*/journal*', async route => {
    await isReleased;
    return route.continue();
  });
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await visitor.says('Write a report about tea');
  await visitor.reads(/^I have started/);
  await visitor.seesCards('write_report: running');
  await visitor.says('What is the weather in London?');
  await visitor.reads(/12°C/);
  await visitor.seesCards('write_report: running');
  expect(await visitor.cards('write_report: done').count()).toBe(0);
  release();
  await visitor.reads(/report about tea is finished/);
  await visitor.seesCards('write_report: done');
  expect(await visitor.cards('write_report: done').innerText()).not.toContain('pending');
});

test('writing over a question says so before, and takes a second Enter', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('Tell me a joke');
  await page.getByText('Sending this answers the open question with no.').waitFor();
  await page.getByRole('button', { name: 'Deny and send' }).waitFor();
  // Held down, it is one Enter, however often the browser repeats it.
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.getByText('Press Enter again to answer it with no and send this.').waitFor();
  await visitor.seesCards('process_payment: asked');
  expect(await field.inputValue()).toBe('Tell me a joke');
  await visitor.photographs('writing-over');
  await page.keyboard.press('Enter');
  await visitor.seesCards('process_payment: denied');
  await visitor
    .cards('process_payment: denied')
    .getByText(/^local wrote something else instead/)
    .waitFor();
});
