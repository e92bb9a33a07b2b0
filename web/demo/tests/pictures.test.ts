/** The pictures of the README, taken of the page itself: `npm run pictures -w demo`. */
import { join } from 'node:path';
import { test } from 'vitest';
import { projectRoot } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

const images = join(projectRoot, 'docs', 'images');
const viewport = { width: 1280, height: 800 };

test('pictures for the README', async () => {
  const server = await startServer({ approvalTimeout: 90, isDurable: true, sdk: 7 });
  const visitor = await Visitor.at(server.url, { viewport, colorScheme: 'light' });
  const { page } = visitor;
  const frames: { words: string; picture: string }[] = [];
  const take = async (words: string) => {
    const picture = await page.screenshot({ clip: { x: 84, y: 57, width: 736, height: 743 } });
    frames.push({ words, picture: picture.toString('base64') });
  };

  await visitor.says('What is the weather in Tokyo?');
  await visitor.reads(/18°C/);
  await visitor.says('Send $30 to Alice and $40 to Bob');
  await visitor.seesCards('process_payment: asked', 2);
  await visitor.sawTheEnd();
  await take('Two questions wait. No window is open.');
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.sawTheEnd();
  await page.screenshot({ path: join(images, 'page.png') });
  await server.kill();
  await page.getByText('Server is away').waitFor();
  await take('One is approved and paid. The server is killed.');
  await server.restart();
  await page.getByText('Server is up').waitFor();
  await visitor.clicks('BIDI');
  await page.reload();
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await page.getByRole('log').getByRole('button', { name: 'Deny' }).click();
  await page.getByLabel('Why not? The agent gets your reason.').fill('not him');
  await take('It is back, the page was reloaded, and now speaks over a WebSocket.');
  await visitor.clicks('Deny it');
  await visitor.reads(/denied the payment to Bob/);
  await visitor.sawTheEnd();
  await take('The turn ends as if nothing had happened.');

  const strip = frames
    .map(
      ({ words, picture }, index) =>
        `<figure><img src="data:image/png;base64,${picture}"><figcaption>${index + 1}. ${words}</figcaption></figure>`,
    )
    .join('');
  await page.setViewportSize({ width: 1580, height: 100 });
  await page.setContent(`<!doctype html><style>
    body { margin: 0; display: flex; gap: 12px; padding: 12px; align-items: flex-start; background: #e9e4d8; width: fit-content;
      font: 17px/1.35 system-ui, sans-serif; color: #1e1b16; }
    figure { margin: 0; width: 380px; }
    img { width: 380px; border: 1px solid #cfc7b4; border-radius: 6px; display: block; }
    figcaption { padding: 8px 2px 0; }
  </style>${strip}`);
  await page.screenshot({ path: join(images, 'frames.png'), fullPage: true });
});
