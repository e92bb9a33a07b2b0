/** The page as developers see it, where React mounts everything twice to find what can't bear it. */

import { createServer } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import type { Server } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

/** The development server in front of the real one. */
async function develop(server: Server): Promise<string> {
  const vite = await createServer({
    root: new URL('..', import.meta.url).pathname,
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, proxy: { '/api': server.url, '/healthz': server.url } },
  });
  onTestFinished(() => vite.close());
  await vite.listen();
  return vite.resolvedUrls?.local[0] ?? '';
}

test('a call that a page comes back to runs once', { timeout: 120_000 }, async () => {
  const server = await startServer();
  const visitor = await Visitor.at(await develop(server), {
    // It gathers what the page is made of when it is first asked.
    timeoutMs: 60_000,
    geolocation: { latitude: 59.9139, longitude: 10.7522 },
    permissions: ['geolocation'],
  });
  const { page } = visitor;
  let looks = 0;
  await page.exposeFunction('countLook', () => {
    looks += 1;
  });
  // Counts, and changes nothing.
  await page.addInitScript(() => {
    const { geolocation } = navigator;
    const { countLook } = window as unknown as { countLook: () => void };
    const look = geolocation.getCurrentPosition.bind(geolocation);
    geolocation.getCurrentPosition = (...given) => {
      countLook();
      look(...given);
    };
  });

  await visitor.says('Where am I?');
  await visitor.seesCards('get_location: asked');
  await visitor.sawTheEnd();
  // The page is away while it is answered: it would run the call at once, and have nothing to come back to.
  const chat = page.url();
  await page.goto('about:blank');
  await server.answerWhatWaits();
  await page.goto(chat);
  await visitor.seesCards('get_location: done');
  await visitor.reads(/^You are at 59\.9139, 10\.7522/);
  await visitor.sawTheEnd();
  expect(looks).toBe(1);
});
