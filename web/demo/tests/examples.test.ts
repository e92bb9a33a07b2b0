/** The pages of examples/, started by their one command: each behind the development proxy of its tools. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { binary, end, launchProgram } from '../../conformance/src/server/process.ts';
import { consent, pressWhenItAppears } from './pressing.ts';
import { projectRoot } from './server.ts';
import { BY_TIMER, Visitor, withBrowser } from './visitor.ts';

withBrowser();

interface Example {
  page: Page;
  url: string;
}

async function start(example: string): Promise<Example> {
  const directory = mkdtempSync(join(tmpdir(), 'adk-stream-'));
  const program = await launchProgram({
    command: join(projectRoot, 'examples', example, 'run'),
    args: [],
    cwd: projectRoot,
    variables: {
      LISTEN: '127.0.0.1:0',
      ADK_STREAM_BINARY: binary,
      EXAMPLE_DIRECTORY: directory,
    },
    listening: /listening on (http:\/\/\S+:\d+)/,
  });
  onTestFinished(async () => {
    await end(program, 'SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  });
  const { page } = await Visitor.at(program.url, { timeoutMs: 120_000 });
  return { page, url: program.url };
}

const say = async (page: Page, text: string) => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
};

/** The question that asks something, whichever the page draws it with. */
const questionIn = (page: Page, text: string) => page.getByRole('group').filter({ hasText: text });

const paymentsOf = async (url: string) =>
  (await (await fetch(`${url}/api/wallet`)).json()).payments;

const approvalsOf = async (url: string) =>
  (await (await fetch(`${url}/api/approvals`)).json()).approvals;

/** Says something that is asked about; a press that comes too soon is no yes, and one after a reload is. */
async function pays({ page, url }: Example) {
  await pressWhenItAppears(page);
  await say(page, 'Send $20 to Sam');
  const question = questionIn(page, 'Send 20 USD to Sam?').filter({ hasText: /recipient\W*Sam/ });
  await question.waitFor();
  await page.waitForFunction(() => 'isPressed' in window, undefined, BY_TIMER);
  await question
    .getByRole('button', { name: 'Approve' })
    .and(page.locator('[aria-disabled=false]'))
    .waitFor();
  expect(await paymentsOf(url)).toEqual([]);
  expect(await approvalsOf(url)).toHaveLength(1);
  await page.reload();
  await question.waitFor();
  await consent(question, 'Approve');
}

/** A question that asks for data is answered in a form. */
async function books({ page }: Example, done: string | RegExp) {
  await say(page, 'Book a table');
  const question = questionIn(page, 'When, and for how many?');
  await question.getByLabel('Date').fill('2026-12-24');
  await question.getByLabel('Time').selectOption('19:00');
  await question.getByLabel('People').fill('4');
  await question.getByLabel('Name').fill('Ann');
  await consent(question, 'Send answer');
  await page.getByText(/Your table for 4 is booked on 2026-12-24 at 19:00/).waitFor();
  await page.getByText(done).waitFor();
}

/** A question outlives a reload and is answered, a tool of the page runs, and nothing goes wrong. */
async function expectWhole({ page, url }: Example, done: string, denied: string) {
  await pays({ page, url });
  await page.getByText(`process_payment: ${done}`).waitFor();
  expect(await paymentsOf(url)).toMatchObject([{ amount: 20, recipient: 'Sam' }]);

  await say(page, 'Play track 2');
  await page.getByText(`change_bgm: ${done}`).waitFor();

  // Answered elsewhere, and shown here.
  await say(page, 'Send $30 to Ann');
  await questionIn(page, 'Send 30 USD to Ann?').waitFor();
  await deny(url);
  await page.getByText(`process_payment: ${denied}`).waitFor();

  await books({ page, url }, `book_table: ${done}`);
  await expectNoAlert(page);
}

/** Next.js has an empty one of its own. */
const expectNoAlert = async (page: Page) =>
  expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0);

/** As somebody who is not at the page. */
async function deny(url: string) {
  const [{ approvalId }] = await approvalsOf(url);
  await fetch(`${url}/api/approvals/${approvalId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approved: false }),
  });
}

test.each(['vue', 'sveltekit', 'nextjs'])('%s', async name => {
  await expectWhole(await start(name), 'output-available', 'output-denied');
});

test('copilotkit', async () => {
  const { page, url } = await start('copilotkit');
  await pays({ page, url });
  // Its hook shows the answer as if it were the result, until the server has sent the real one.
  await page.getByText(/process_payment: done .*transaction/).waitFor();
  expect(await paymentsOf(url)).toMatchObject([{ amount: 20, recipient: 'Sam' }]);

  await say(page, 'Play track 2');
  await page.getByText(/change_bgm: done.*"track":2/).waitFor();

  await say(page, 'Send $30 to Ann');
  await page
    .getByRole('group', { name: 'Send 30 USD to Ann?' })
    .getByRole('button', { name: 'Deny' })
    .click();
  await page.getByRole('group').waitFor({ state: 'detached' });
  await expect.poll(() => approvalsOf(url)).toEqual([]);

  await books({ page, url }, /book_table: done/);

  // What the page shows is what the server has.
  await page.getByRole('button', { name: 'Send', exact: true, disabled: false }).waitFor();
  const text = await page.getByRole('article').allInnerTexts();
  await page.reload();
  await expect.poll(() => page.getByRole('article').allInnerTexts()).toEqual(text);
  await expectNoAlert(page);
});

test('assistant-ui', async () => {
  await expectWhole(await start('assistant-ui'), 'done', 'denied');
});

test('assistant-ui stays in step with the server when somebody edits and repeats', async () => {
  const { page, url } = await start('assistant-ui');
  const answers = page.getByRole('article', { name: 'assistant' });
  await say(page, 'What is the weather in Oslo?');
  await answers.first().getByText('get_weather: done').waitFor();
  await say(page, 'What is the weather in Tokyo?');
  await answers.nth(1).getByText(/18°C/).waitFor();

  const id = new URL(page.url()).hash.slice(1);
  // A turn that was opened just now is not cut off: docs/http.md.
  await expect
    .poll(
      async () => {
        const { chats } = await (await fetch(`${url}/api/chats`)).json();
        return Date.now() - chats[0].activeAt;
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(2_000);
  await page.getByRole('button', { name: 'Edit' }).nth(1).click();
  await page.getByLabel('Edited message').fill('What is the weather in London?');
  await page.getByRole('button', { name: 'Say this instead' }).click();
  await answers.nth(1).getByText(/12°C/).waitFor();
  await page.getByRole('button', { name: 'Answer again' }).nth(1).click();
  await expect
    .poll(
      async () => {
        const { branches } = await (await fetch(`${url}/api/chat/${id}/branches`)).json();
        return branches.length;
      },
      { timeout: 30_000 },
    )
    .toBe(2);
  // To its last word: what is read below must not grow.
  await answers
    .nth(1)
    .getByText(/12°C.* humidity\./)
    .waitFor();

  // What the page shows is what the server has, but for the picker: it has the branches of this page.
  const shown = async () => {
    const texts = await page.getByRole('article').allInnerTexts();
    return texts.map(text => text.replace(/\nPrevious\d+ of \d+Next$/, ''));
  };
  await page.getByText('2 of 2').waitFor();
  const text = await shown();
  await page.reload();
  await answers
    .nth(1)
    .getByText(/12°C.* humidity\./)
    .waitFor();
  expect(await shown()).toEqual(text);
  await expectNoAlert(page);
});
