/** The pages of examples/, started by their one command: each behind the development proxy of its tools. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { binary, end, launchProgram } from '../../conformance/src/server/process.ts';
import { projectRoot } from './server.ts';
import { Visitor, WAIT_MS, withBrowser } from './visitor.ts';

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

/** Approves a question: on a busy machine, a press may come too soon to count. */
async function approve(question: Locator) {
  await question.waitFor();
  const button = question.getByRole('button', { name: 'Approve' });
  await vi.waitUntil(
    async () => {
      // It may go, or move, while it is pressed.
      await button.click({ timeout: 2_000 }).catch(() => undefined);
      return (await question.count()) === 0;
    },
    { timeout: WAIT_MS, interval: 200 },
  );
}

/** A question outlives a reload and is answered, a tool of the page runs, and nothing goes wrong. */
async function expectWhole({ page, url }: Example, done: string, denied: string) {
  await say(page, 'Send $20 to Sam');
  const question = page.getByRole('group', { name: 'Send 20 USD to Sam?' });
  await question.getByText('"recipient": "Sam"').waitFor();
  await page.reload();
  await approve(question);
  await page.getByText(`process_payment: ${done}`).waitFor();
  const { payments } = await (await fetch(`${url}/api/wallet`)).json();
  expect(payments).toMatchObject([{ amount: 20, recipient: 'Sam' }]);

  await say(page, 'Play track 2');
  await page.getByText(`change_bgm: ${done}`).waitFor();

  // Answered elsewhere, and shown here.
  await say(page, 'Send $30 to Ann');
  await page.getByRole('group', { name: 'Send 30 USD to Ann?' }).waitFor();
  await deny(url);
  await page.getByText(`process_payment: ${denied}`).waitFor();
  await expectNoAlert(page);
}

/** Next.js has an empty one of its own. */
const expectNoAlert = async (page: Page) =>
  expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0);

/** As somebody who is not at the page. */
async function deny(url: string) {
  const { approvals } = await (await fetch(`${url}/api/approvals`)).json();
  await fetch(`${url}/api/approvals/${approvals[0].approvalId}`, {
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
  await say(page, 'Send $20 to Sam');
  const question = page.getByRole('group', { name: 'Send 20 USD to Sam?' });
  await question.getByText('"recipient": "Sam"').waitFor();
  await page.reload();
  await approve(question);
  // Its hook shows the answer as if it were the result, until the server has sent the real one.
  await page.getByText(/process_payment: done .*transaction/).waitFor();
  const { payments } = await (await fetch(`${url}/api/wallet`)).json();
  expect(payments).toMatchObject([{ amount: 20, recipient: 'Sam' }]);

  await say(page, 'Play track 2');
  await page.getByText(/change_bgm: done.*"track":2/).waitFor();

  await say(page, 'Send $30 to Ann');
  await page
    .getByRole('group', { name: 'Send 30 USD to Ann?' })
    .getByRole('button', { name: 'Deny' })
    .click();
  await page.getByRole('group').waitFor({ state: 'detached' });
  await expect
    .poll(async () => (await (await fetch(`${url}/api/approvals`)).json()).approvals)
    .toEqual([]);

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
