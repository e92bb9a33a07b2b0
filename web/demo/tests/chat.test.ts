/** The chat: what a person says, approves, changes and denies. */
import { expect, test } from 'vitest';
import { BY_TIMER, startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('tells the weather, and folds its thoughts', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.clicks('What is the weather in Tokyo? runs on the server');
  await visitor.seesCards('get_weather: done');
  await visitor.reads(/18°C/);

  const thought = visitor.page
    .getByRole('log')
    .getByText('The user wants me to look up the weather in Tokyo.');
  expect(await thought.isVisible()).toBe(false);
  await visitor.page.getByText('Thought', { exact: true }).click();
  await thought.waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('an approver changes the input, and the journal keeps both', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await visitor.clicks('Edit');
  await page.getByLabel('amount').fill('five');
  await visitor.presses(page.getByRole('button', { name: 'Approve this' }));
  await page.getByText('This has to be a number, as in JSON.').waitFor();
  await page.getByLabel('amount').fill('5');
  await visitor.consents(page.getByRole('button', { name: 'Approve this' }));

  await visitor.seesCards('process_payment: done');
  await visitor.reads('Asked: Send 20 USD to Sam? The input was changed by hand.');
  await visitor.reads('Send $5 to Sam');
  await visitor.sees('$995');
  await page.getByText('approved, with another input').waitFor();
  await page.getByText('amount 20 · recipient Sam · currency USD').waitFor();
});

test('can be used with the keyboard alone', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  const { keyboard } = page;
  const isFocused = (name: string) =>
    page.evaluate(wanted => document.activeElement?.textContent === wanted, name);

  await page.getByRole('button', { name: /^Send \$20 to Sam/ }).focus();
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // The focus is in the field, and the question a few steps before it.
  for (let step = 0; step < 12 && !(await isFocused('Approve')); step++) {
    await keyboard.press('Shift+Tab');
  }
  expect(await isFocused('Approve')).toBe(true);
  await page.waitForFunction(
    from => performance.now() - from > 600,
    await page.evaluate(() => performance.now()),
    BY_TIMER,
  );
  await visitor.cards('process_payment: asked').locator('[aria-disabled=false]').first().waitFor();
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');

  // The focus is back in the field.
  await page.waitForFunction(() => document.activeElement?.id === 'message', null, BY_TIMER);
  await visitor.sawTheEnd();
  await keyboard.type('Send $7 to Ann');
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  for (let step = 0; step < 12 && !(await isFocused('Deny')); step++) {
    await keyboard.press('Shift+Tab');
  }
  await keyboard.press('Escape');
  await keyboard.type('no reason');
  await keyboard.press('Enter');
  await visitor.seesCards('process_payment: denied');
  await visitor.reads(/^You denied .*: no reason\.$/);
  expect(visitor.complaints).toEqual([]);
});

test('screen readers announce the question and the answer', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const announced = visitor.page.locator('[data-announcer]');

  await visitor.says('Send $20 to Sam');
  await announced.getByText(/^Approval needed: Send 20 USD to Sam\?/).waitFor();
  await visitor.approves();
  await announced.getByText(/^I sent \$20 to Sam/).waitFor();
});

test('somebody who writes meanwhile keeps the focus', async () => {
  const server = await startServer({ pace: 20 });
  const visitor = await Visitor.at(server.url);

  await visitor.says('Send $20 to Sam');
  await visitor.page.keyboard.type('And then');
  await visitor.seesCards('process_payment: asked');
  await visitor.page.keyboard.type(' more');
  expect(await visitor.page.getByLabel('Message', { exact: true }).inputValue()).toBe(
    'And then more',
  );
  await visitor.page.getByText('Sending this answers the open question with no.').waitFor();
  await visitor.page.getByRole('button', { name: 'Deny and send' }).waitFor();
});

test('asks twice about one flight, and a double click answers one question', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Book a flight to Oslo');
  await page.getByRole('heading', { name: 'Hold a seat to Oslo?' }).waitFor();
  await visitor.sawTheEnd();
  await visitor.approves();
  await page.getByRole('heading', { name: /^Pay 120 USD for seat seat_/ }).waitFor();
  await visitor.sawTheEnd();
  // The other half of a double click, come late.
  await page.getByRole('log').getByRole('button', { name: 'Approve' }).hover();
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await visitor.sees('$1,000');
  await visitor.approves();

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

test('a tool of the server has the page play something', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Set the mood for London');
  await visitor.page.getByText('Playing track 2', { exact: true }).waitFor();
  await visitor.seesCards('change_bgm: done');
  await visitor.seesCards('set_mood: done');
  await visitor.reads(/mood of London is set/);
  await visitor.says('Play track 7');
  await visitor.seesCards('change_bgm: failed');
  await visitor.reads(/There is no track 7\./);
  expect(visitor.complaints).toEqual([]);
});

test('shows the result of a report that comes later', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Write a report about tea');
  await visitor.reads(/^I have started/);
  await visitor.reads(/report about tea is finished/);
  await visitor.seesCards('write_report: done');
  expect(visitor.complaints).toEqual([]);
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
  const stored = await (await fetch(`${server.url}/api/chat/${visitor.chat}`)).json();
  expect(stored.status).toBe('stopped');

  await page.reload();
  await visitor.reads('Stopped.');
});

test('sends files by button, paste and drop', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };

  await page.getByLabel('Attach files').last().setInputFiles(note);
  await page.getByText('note.txt').waitFor();
  await page.getByLabel('Message', { exact: true }).evaluate(async field => {
    const canvas = new OffscreenCanvas(8, 8);
    canvas.getContext('2d')?.fillRect(0, 0, 8, 8);
    const picture = new File([await canvas.convertToBlob()], 'dot.png', { type: 'image/png' });
    const bring = (event: string, name: string) => {
      const data = new DataTransfer();
      data.items.add(picture);
      const all = { bubbles: true, cancelable: true };
      field.dispatchEvent(
        event === 'paste'
          ? new ClipboardEvent('paste', { ...all, clipboardData: data })
          : new DragEvent('drop', { ...all, dataTransfer: data }),
      );
      return name;
    };
    bring('paste', 'dot.png');
    bring('drop', 'dot.png');
  });
  await page.getByRole('button', { name: 'Remove dot.png' }).nth(1).waitFor();
  await page.getByRole('button', { name: 'Remove dot.png' }).first().click();
  await visitor.says('What is this?');
  await page.getByRole('article', { name: 'You' }).getByRole('img', { name: 'dot.png' }).waitFor();
  await page
    .getByRole('article', { name: 'You' })
    .getByRole('link', { name: 'note.txt' })
    .waitFor();
  await visitor.reads(/^You said/);

  const large = { ...note, name: 'large.bin', buffer: Buffer.alloc(2_100_000) };
  await page.getByLabel('Attach files').last().setInputFiles(large);
  await page.getByText('large.bin is too large: 2 MB at most.').waitFor();
  await page.reload();
  await page.getByRole('img', { name: 'dot.png' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});
