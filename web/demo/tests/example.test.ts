/** The page of examples/react, as its README starts it: the stock `useChat` behind Vite's proxy. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { end, launchProgram } from '../../conformance/src/server/process.ts';
import { consent, pressWhenItAppears } from './pressing.ts';
import { projectRoot } from './server.ts';
import { BY_TIMER, startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

/** `npm run dev`, in front of a server. */
async function develop(server: string): Promise<string> {
  const vite = await launchProgram({
    command: 'node',
    args: ['node_modules/vite/bin/vite.js', '--host', '127.0.0.1', '--port', '0'],
    cwd: join(projectRoot, 'examples/react'),
    variables: { ADK_STREAM_URL: server, NO_COLOR: '1' },
    listening: /(http:\/\/127\.0\.0\.1:\d+)/,
  });
  onTestFinished(() => end(vite, 'SIGTERM'));
  return vite.url;
}

test('a question is shown with its text, outlives a reload, and is answered', async () => {
  const server = await startServer();
  const { page } = await Visitor.at(await develop(server.url), { timeoutMs: 30_000 });
  const say = async (text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };

  await pressWhenItAppears(page);
  await say('Send $20 to Sam');
  const question = page.getByRole('group', { name: 'Send 20 USD to Sam?' });
  await question.filter({ hasText: /recipient\W*Sam/ }).waitFor();
  await page.waitForFunction(() => 'isPressed' in window, undefined, BY_TIMER);
  const approve = question.getByRole('button', { name: 'Approve' });
  await approve.and(page.locator('[aria-disabled=false]')).waitFor();
  expect(await server.approvals()).toHaveLength(1);
  await page.reload();
  await question.waitFor();
  await consent(question, 'Approve');
  await page.getByText('process_payment: output-available').waitFor();
  const { payments } = await (await fetch(`${server.url}/api/wallet`)).json();
  expect(payments).toMatchObject([{ amount: 20, recipient: 'Sam' }]);

  await say('Play track 2');
  await page.getByText('change_bgm: output-available').waitFor();
  await say('Send $30 to Ann');
  await page
    .getByRole('group', { name: 'Send 30 USD to Ann?' })
    .getByRole('button', { name: 'Deny' })
    .click();
  await page.getByText('process_payment: output-denied').waitFor();

  await say('Book a table');
  const table = page.getByRole('group', { name: 'When, and for how many?' });
  await table.getByLabel('Date').fill('2026-12-24');
  await table.getByLabel('Time').selectOption('19:00');
  await table.getByLabel('People').fill('4');
  await table.getByLabel('Name').fill('Ann');
  await consent(table, 'Send answer');
  await page.getByText(/Your table for 4 is booked on 2026-12-24 at 19:00/).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});
