/** Another site shows our page in a frame that nobody sees, and has a person click on it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import type { Server } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

/** A site that lays a frame with the given page over one of its own buttons. */
async function site(): Promise<{ origin: string; lure: (url: string) => string }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site').searchParams.get('url') ?? '';
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><button>Win a prize</button>
       <iframe src="${url.replaceAll('"', '&quot;')}"
         style="position:fixed;inset:0;width:100%;height:100%;border:0;opacity:0.01"></iframe>`,
    );
  });
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, lure: url => `${origin}/?url=${encodeURIComponent(url)}` };
}

/** A chat in which a payment waits for a yes, and where that yes is on the screen. */
async function waiting(server: Server): Promise<{ url: string; place: { x: number; y: number } }> {
  const visitor = await Visitor.at(server.url);
  await visitor.says('Send $20 to Sam');
  await visitor.seesCards('process_payment: asked');
  const url = visitor.page.url();
  const place = await center(visitor.page.getByRole('button', { name: 'Approve' }));
  return { url, place };
}

async function center(button: Locator): Promise<{ x: number; y: number }> {
  const box = await button.first().boundingBox();
  if (box === null) {
    throw new Error('the button is not shown');
  }
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

test('no other site shows the page in a frame, so that no click on one pays', async () => {
  const server = await startServer();
  const { url, place } = await waiting(server);
  const { lure } = await site();
  const victim = await Visitor.at(lure(url));
  const frame = victim.page.frames().find(frame => frame !== victim.page.mainFrame());
  // What the browser shows in place of a page that refuses to be framed.
  await frame?.waitForURL('chrome-error://chromewebdata/');
  await victim.page.mouse.click(place.x, place.y);
  expect(victim.complaints.join()).toContain('frame-ancestors');
  expect(await server.approvals()).toHaveLength(1);
});

test('a site that the operator names shows the page', async () => {
  const { origin, lure } = await site();
  const server = await startServer({ frameAncestors: origin });
  const visitor = await Visitor.at(lure(server.url));
  await visitor.page.frameLocator('iframe').getByLabel('Message', { exact: true }).waitFor();
});
