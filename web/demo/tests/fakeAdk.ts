/** An ADK server of a few lines: an agent `root`, with another, `payments`, below. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Json = { [key: string]: unknown };

/** Starts one for a test, and says where it is. */
export async function startFakeAdk(): Promise<string> {
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '', method } = request;
  if (url.endsWith('/app-info')) {
    const agents = { root: { subAgents: ['payments'] }, payments: { subAgents: [] } };
    send(response, { rootAgentName: 'root', agents });
  } else if (url.endsWith('/sessions') && method === 'POST') {
    const { sessionId, events } = await read(request);
    send(response, { id: sessionId, events });
  } else if (url === '/run_sse') {
    run(await read(request), response);
  } else {
    response.writeHead(404).end('{}');
  }
}

function run(body: Json, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = (event: Json) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  const message = JSON.stringify(body.newMessage);
  const pay = { id: 'p1', name: 'pay', args: { to: 'Ann' } };
  if (message.includes('"confirmed":true')) {
    say(
      event('payments', { functionResponse: { ...pay, args: undefined, response: { paid: 5 } } }),
    );
    say(event('payments', { text: 'Paid.' }));
  } else if (message.includes('Pay')) {
    const args = { originalFunctionCall: pay, toolConfirmation: { hint: 'Pay 5 to Ann?' } };
    const ask = { id: 'conf', name: 'adk_request_confirmation', args };
    say(event('payments', { functionCall: pay }));
    say({ ...event('payments', { functionCall: ask }), longRunningToolIds: ['conf'] });
    const placeholder = { functionResponse: { id: 'p1', name: 'pay', response: { error: 'ask' } } };
    const actions = { requestedToolConfirmations: { p1: {} } };
    say({ ...event('payments', placeholder), actions });
  } else if (message.includes('Break')) {
    const call = JSON.stringify(event('payments', { functionCall: pay }));
    response.write(`data: ${call}\n\n`, () => response.destroy());
    return;
  } else {
    say(event('root', { text: 'Hello.' }));
  }
  response.end();
}

function event(author: string, part: Json): Json {
  return { author, content: { role: 'model', parts: [part] } };
}

async function read(request: IncomingMessage): Promise<Json> {
  let text = '';
  for await (const piece of request) {
    text += piece;
  }
  return JSON.parse(text);
}

function send(response: ServerResponse, body: Json): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
