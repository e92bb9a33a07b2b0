/** Errors that say what to do. */
import { expect, test } from 'vitest';
import { startServer, type Transport, Visitor, withBrowser } from './visitor.ts';

withBrowser();

const transports: Transport[] = ['sse', 'bidi'];

test.each(transports)('a rate limit counts down, and is tried again: %s', async transport => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { transport });
  const { page } = visitor;
  await page.clock.install();

  await visitor.says('Fail with rate limit');
  const alert = page.getByRole('alert');
  await alert.getByText(/accepts requests again in 1[67] seconds\.$/).waitFor();
  const waiting = page.getByRole('button', { name: /^Retry in 1[67] s$/ });
  expect(await waiting.isDisabled()).toBe(true);
  await page.clock.runFor(17_500);
  await alert.getByText('It may accept requests again now.').waitFor();
  await visitor.clicks('Retry');
  // It fails again, and counts again.
  await page.getByRole('button', { name: /^Retry in 1[67] s$/ }).waitFor();
});

test('says what to do about a refused key, a broken answer and a bad call', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Fail with refused key');
  await page
    .getByRole('alert')
    .getByText(/Give the server a good one/)
    .waitFor();
  await visitor.says('Break the stream');
  await page
    .getByRole('alert')
    .getByText(/^The answer broke off in the middle\./)
    .waitFor();
  await visitor.clicks('Retry');
  await page
    .getByRole('alert')
    .getByText(/^The answer broke off in the middle\./)
    .waitFor();
  await visitor.says('Say nothing');
  await visitor.reads('The agent said nothing.');
  expect(await page.getByRole('alert').count()).toBe(0);
});

test.each(transports)('asks for the key that the server wants: %s', async transport => {
  const server = await startServer({ keys: 'alice=a-key-of-alices-own' });
  const visitor = await Visitor.at(server.url, { transport });
  const { page } = visitor;

  await page.getByRole('dialog', { name: 'This server requires a key' }).waitFor();
  await page.getByLabel('Key', { exact: true }).fill('guess');
  await visitor.clicks('Use this key');
  await page.getByText('The server does not accept this key.').waitFor();
  await page.getByLabel('Key', { exact: true }).fill('a-key-of-alices-own');
  await visitor.clicks('Use this key');
  await visitor.sees('$1,000');
  await visitor.says('Send $20 to Sam');
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
  await page.getByText(/alice\s*approved/).waitFor();
});

test('what was said to a server that was away is said again when it is back', async () => {
  const server = await startServer({ isDurable: true });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Hello');
  await visitor.reads(/^You said/);
  await visitor.sawTheEnd();
  await server.kill();
  await visitor.says('Hello again');
  await page
    .getByRole('alert')
    .getByText(/send it again when it is back\.$/)
    .waitFor();
  await server.restart();
  await visitor.clicks('Retry');
  await visitor.reads(/Hello again/);
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.getByRole('article', { name: 'Agent' }).nth(1).waitFor();
});
