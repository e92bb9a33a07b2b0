/** Questions that ask for data: the form, its errors, and what becomes of an answer. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

async function asked(sdk: 6 | 7 = 7): Promise<Visitor> {
  const server = await startServer({ sdk });
  const visitor = await Visitor.at(server.url);
  await visitor.says('Book a table');
  await visitor.seesCards('ask_user: asked');
  return visitor;
}

/** Sends what is filled in, once the fields were in sight to their end. */
async function sends(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await page.locator('.edit-fields').evaluate(box => box.scrollTo(0, box.scrollHeight));
  await visitor.consents(page.getByRole('button', { name: 'Send answer' }));
}

async function fillIn({ page }: Visitor): Promise<void> {
  await page.getByLabel('Date', { exact: true }).fill('2026-12-24');
  await page.getByLabel('Time', { exact: true }).selectOption('19:00');
  await page.getByLabel('People', { exact: true }).fill('4');
  await page.getByLabel('Outside', { exact: true }).check();
  await page.getByLabel('Name', { exact: true }).fill('Ann');
}

test.each([6, 7] as const)(
  'a form shows errors at the fields and sends the answer, with AI SDK %i',
  async sdk => {
    const visitor = await asked(sdk);
    const { page } = visitor;
    const field = page.getByLabel('Message', { exact: true });
    expect(await field.evaluate(it => it === document.activeElement)).toBe(true);
    const { violations } = await new AxeBuilder({ page }).include('.approval').analyze();
    expect(violations).toEqual([]);

    await page.getByLabel('People', { exact: true }).fill('40');
    await sends(visitor);
    const people = page.getByLabel('People', { exact: true });
    await people.and(page.locator('[aria-invalid=true]')).waitFor();
    expect(await people.getAttribute('aria-describedby')).not.toBeNull();
    const name = page.getByLabel('Name', { exact: true });
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await visitor.photographs('question-errors');

    await fillIn(visitor);
    expect(await people.getAttribute('aria-invalid')).toBe('false');
    await visitor.photographs('question');
    await sends(visitor);
    await visitor.reads(/Your table for 4 is booked on 2026-12-24 at 19:00/);
    await visitor.seesCards('ask_user: done');
    await visitor.seesCards('book_table: done');
    expect(visitor.complaints.filter(it => !it.includes('400'))).toEqual([]);
  },
);

test('a person declines, with a reason', async () => {
  const visitor = await asked();
  const { page } = visitor;
  await page.getByRole('button', { name: 'Decline', exact: true }).click();
  await page.keyboard.type('not today');
  await page.keyboard.press('Enter');
  await visitor.reads(/not today/);
  await visitor.seesCards('ask_user: denied');
  expect(visitor.complaints).toEqual([]);
});

test('the question is there again after a reload, and gone when it is answered elsewhere', async () => {
  const visitor = await asked();
  const { page } = visitor;
  await page.reload();
  await visitor.seesCards('ask_user: asked');
  const answer = {
    answer: { date: '2026-12-24', time: '20:00', people: 2, contact: { name: 'Ben' } },
  };
  const status = await page.evaluate(async given => {
    const { approvals } = await (await fetch('/api/approvals')).json();
    const [{ approvalId }] = approvals;
    const answered = await fetch(`/api/approvals/${approvalId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    return answered.status;
  }, answer);
  expect(status).toBe(200);
  await page.reload();
  await visitor.reads(/Your table for 2 is booked on 2026-12-24 at 20:00/);
  await visitor.seesCards('ask_user: done');
});
