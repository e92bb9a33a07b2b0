/** Another site has a browser on this machine send requests to the server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

/** A site under a name of its own, and the port that it has on this machine. */
async function site(host: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><iframe name="sink"></iframe>');
  });
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

// To the server on 127.0.0.1, the one is another site, and the other the same site on another port.
test.each(['localhost', '127.0.0.1'])(
  'nothing that a page of %s sends has an effect',
  async host => {
    const server = await startServer();
    await server.tell('c1', 'm1', 'Send $20 to Sam');
    const [asked] = await server.approvals();
    const { page } = await Visitor.at(await site(host));
    const socket = await page.evaluate(
      async ({ url, approval }) => {
        const changes = [
          '/api/chat/c1/stop',
          '/api/ticket',
          `/api/approvals/${approval}`,
          '/api/chat',
        ];
        for (const path of changes) {
          // What a browser sends without asking the server first; it keeps the answer to itself.
          for (const body of ['{"approved":true}', null]) {
            const init: RequestInit = { method: 'POST', mode: 'no-cors', body };
            await fetch(url + path, init).catch(() => {});
            await fetch(url + path, { ...init, referrerPolicy: 'no-referrer' }).catch(() => {});
          }
          navigator.sendBeacon(url + path, '{"approved":true}');
          const form = document.createElement('form');
          Object.assign(form, { method: 'post', action: url + path, target: 'sink' });
          document.body.append(form);
          const answered = new Promise(resolve => {
            document.querySelector('iframe')?.addEventListener('load', resolve, { once: true });
          });
          form.submit();
          await answered;
        }
        await fetch(`${url}/api/chat/c1`, { method: 'DELETE' }).catch(() => {});
        const socket = new WebSocket(`${url.replace('http', 'ws')}/api/chat/live`);
        return new Promise<string>(resolve => {
          socket.onopen = () => resolve('opened');
          socket.onclose = () => resolve('refused');
        });
      },
      { url: server.url, approval: asked?.approvalId },
    );
    expect(socket).toBe('refused');
    expect(await server.approvals()).toHaveLength(1);
    const chat = await (await fetch(`${server.url}/api/chat/c1`)).json();
    expect(chat.status).toBe('parked');
  },
);
