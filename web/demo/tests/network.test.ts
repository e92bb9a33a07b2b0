/** A network that comes and goes: nothing is lost, and nothing is done twice. */
import { expect, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';
import { Wire } from './wire.ts';

withBrowser();

const unreachable = /^The server can’t be reached\./;

test('a message that was never received is sent again', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.page.context().setOffline(true);
  await visitor.says('What is the weather in Tokyo?');
  await visitor.page.getByRole('alert').getByText(unreachable).waitFor();
  await visitor.page.context().setOffline(false);
  await visitor.clicks('Retry');

  await visitor.reads(/18°C/);
  expect(await visitor.page.getByRole('alert').count()).toBe(0);
});

test('an approval that was not received is not said to be lost, and pays once when it is given again', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await page.context().setOffline(true);
  await visitor.approves();
  await page.getByText('Whether your answer reached it is not known').waitFor();
  await visitor.seesCards('process_payment: asked');
  expect(await page.getByText('What you wrote is kept').count()).toBe(0);
  await page.context().setOffline(false);
  const unreceived = page.getByText('Whether yours still arrives is not known yet.');
  await unreceived.waitFor();
  await page.getByText('Whether your answer reached it').waitFor({ state: 'detached' });
  await visitor.sees('$1,000');
  await visitor.approves();

  await unreceived.waitFor({ state: 'detached' });
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
});

test('an approval that arrives late is not said to be lost before, and is found out', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // The page is cut off while the answer is on its way.
  let arrive = async () => {};
  await page.route('**/api/approvals/*', async route => {
    const request = route.request();
    if (request.method() !== 'POST') {
      return route.continue();
    }
    const headers = { 'content-type': 'application/json' };
    const body = request.postData();
    arrive = async () => {
      expect((await fetch(request.url(), { method: 'POST', headers, body })).status).toBe(200);
    };
    return route.abort();
  });
  await visitor.approves();
  await page.getByText('Whether yours still arrives is not known yet.').waitFor();
  expect(await page.getByText('did not reach').count()).toBe(0);
  await arrive();
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
});

test('an approval whose reply was lost is found out, and not given twice', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  // The server receives it, and its response is lost.
  let answers = 0;
  await page.route('**/api/approvals/*', async route => {
    if (route.request().method() !== 'POST') {
      return route.continue();
    }
    answers += 1;
    await route.fetch();
    return route.abort();
  });
  await visitor.approves();

  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
  expect(answers).toBe(1);
});

test('an answer that was cut off is taken up again by itself', async () => {
  const server = await startServer({ pace: 50 });
  const wire = await Wire.to(server.url);
  const visitor = await Visitor.at(wire.url);

  await visitor.says('Hello');
  await visitor.reads(/^You said/);
  wire.cut();

  // The journal says that it continues, and the page looks.
  await visitor.reads(/Try ".*"\.$/);
  expect(await visitor.page.getByRole('alert').count()).toBe(0);
  expect(await visitor.page.getByRole('article', { name: 'Agent' }).count()).toBe(1);
});

test('what the page did is sent later, and not done again', async () => {
  const server = await startServer({ pace: 50 });
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Play track 1');
  await visitor.reads('Thinking…');
  // What streams already continues, and brings the call; its output finds no way back.
  await page.context().setOffline(true);
  await page.getByText('Playing track 1', { exact: true }).waitFor();
  await page.getByRole('alert').getByText(unreachable).waitFor();
  await visitor.clicks('Stop music');
  await page.context().setOffline(false);

  // The server announces the call again, to a page that has run it.
  await visitor.clicks('New chat');
  await page.goBack();
  await visitor.seesCards('change_bgm: done');
  await visitor.reads(/playing/);
  await page.getByText('Track 1 is stopped', { exact: true }).waitFor();
});
