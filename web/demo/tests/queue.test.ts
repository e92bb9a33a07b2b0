/** What is said while a turn is open: it waits, is shown, and is answered or taken back. */
import { expect, test } from 'vitest';
import { barriers } from './looks.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** Says something for later, and sees that it waits. */
async function saysLater(visitor: Visitor, text: string): Promise<void> {
  await visitor.page.getByLabel('Message', { exact: true }).fill(text);
  await visitor.clicks('Send later');
  await waiting(visitor).getByText(text).waitFor();
}

const waiting = ({ page }: Visitor) => page.getByRole('region', { name: 'Waiting messages' });

test('what is said over a question waits for its answer, also after a reload', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
  await visitor.photographs('queue-choice-desktop');
  expect(await barriers(page)).toEqual([]);
  await saysLater(visitor, 'What is the weather in Oslo?');
  await page
    .locator('[data-announcer]')
    .getByText(/^Waits for the end/)
    .waitFor();
  await page.getByText('said for later').waitFor();
  await visitor.photographs('queue-desktop');
  expect(await barriers(page)).toEqual([]);

  await page.reload();
  await waiting(visitor).getByText('What is the weather in Oslo?').waitFor();
  // It is no answer to the question.
  await visitor.seesCards('process_payment: asked');
  await visitor.approves();
  await visitor.seesCards('get_weather: done');
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
  await waiting(visitor).waitFor({ state: 'detached' });
  expect(await page.getByRole('article', { name: 'You' }).count()).toBe(2);
  expect(visitor.complaints).toEqual([]);
});

test('what is said while the answer comes can be taken back', async () => {
  const server = await startServer({ pace: 15 });
  const visitor = await Visitor.at(server.url, phone);
  const { page } = visitor;
  await visitor.says('Take your time');
  await visitor.reads(/^You asked/);
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('Send $5 to Ann');
  await field.press('Enter');
  await waiting(visitor).getByText('Send $5 to Ann').waitFor();
  expect(await field.inputValue()).toBe('');
  await visitor.photographs('queue-phone');
  await field.fill('And $6 to Ben');
  await visitor.photographs('queue-choice-phone');
  expect(await barriers(page)).toEqual([]);
  await visitor.clicks('Stop, and take it back');
  await waiting(visitor).waitFor({ state: 'detached' });
  await visitor.reads('Stopped.');
  await visitor.sawTheEnd();
  const chat = await (await fetch(`${server.url}/api/chat/${visitor.chat}`)).json();
  expect(chat.status).toBe('stopped');
  expect(chat.messages).toHaveLength(2);
  expect(visitor.complaints).toEqual([]);
});

test('the agent is given it at its next step, and it is shown there', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { transport: 'bidi' });
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('What is the weather in Oslo?');
  await visitor.clicks('At its next step');
  await saysLater(visitor, 'What is the weather in Oslo?');
  await waiting(visitor).getByText('Waits for the agent’s next step.').waitFor();
  await visitor.approves();
  await visitor.seesCards('get_weather: done');
  await waiting(visitor).waitFor({ state: 'detached' });
  // Within the one answer, where the agent got it.
  const answer = page.getByRole('article', { name: 'Agent' });
  expect(await answer.count()).toBe(1);
  await answer.getByRole('group', { name: 'You' }).getByText('in Oslo?').waitFor();
  await page.reload();
  await answer.getByRole('group', { name: 'You' }).getByText('in Oslo?').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('too many that wait are refused, and nothing that was written is lost', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  const { chat } = visitor;
  for (let n = 0; n < 16; n++) {
    const message = { id: `m${n}`, role: 'user', parts: [{ type: 'text', text: `Number ${n}` }] };
    const response = await fetch(`${server.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: chat, message, whileRunning: 'queue' }),
    });
    await response.body?.cancel();
  }
  // Said elsewhere, and shown here.
  await waiting(visitor).getByText('Number 15').waitFor();
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('One more');
  await visitor.clicks('Send later');
  await page.getByText(/^This can’t wait: /).waitFor();
  expect(await field.inputValue()).toBe('One more');
});
