/**
 * What a page is sent for the chunks of a route, part by part: by the route itself, and by adk-stream before
 * it. What differs is listed here, and in docs/ai-sdk-agents.md.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { UIMessage } from 'ai-7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { untilIdle } from '../../src/idle.ts';
import { Page } from '../../src/page.ts';
import { chatSdks, type Major, majors } from '../../src/sdk.ts';
import { Api } from '../../src/server/api.ts';
import { Server } from '../../src/server/server.ts';

const chunks = [
  { type: 'start', messageId: 'm-1', messageMetadata: { model: 'a' } },
  { type: 'start-step' },
  { type: 'reasoning-start', id: 'r', providerMetadata: { google: { signature: 's' } } },
  { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
  { type: 'reasoning-end', id: 'r' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Let me ' },
  { type: 'text-delta', id: 't', delta: 'see.' },
  { type: 'text-end', id: 't' },
  { type: 'tool-input-start', toolCallId: 'c-1', toolName: 'get_weather', title: 'The weather' },
  { type: 'tool-input-delta', toolCallId: 'c-1', inputTextDelta: '{"city":' },
  {
    type: 'tool-input-available',
    toolCallId: 'c-1',
    toolName: 'get_weather',
    input: { city: 'Oslo' },
    title: 'The weather',
    providerMetadata: { google: { thoughtSignature: 't' } },
  },
  {
    type: 'tool-input-available',
    toolCallId: 'c-2',
    toolName: 'found_at_run_time',
    input: {},
    dynamic: true,
  },
  { type: 'tool-output-available', toolCallId: 'c-1', output: 'asking', preliminary: true },
  { type: 'tool-output-available', toolCallId: 'c-1', output: { temperature: 3 } },
  { type: 'tool-output-error', toolCallId: 'c-2', errorText: 'it broke', dynamic: true },
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'source-url', sourceId: 's-1', url: 'https://weather.example/', title: 'Weather' },
  { type: 'source-document', sourceId: 's-2', mediaType: 'text/plain', title: 'A document' },
  { type: 'file', url: 'data:text/plain;base64,aGk=', mediaType: 'text/plain' },
  { type: 'data-note', data: { kept: true } },
  { type: 'data-progress', id: 'p', data: { done: 1 } },
  { type: 'data-progress', id: 'p', data: { done: 2 } },
  { type: 'data-flash', data: { shown: 'once' }, transient: true },
  { type: 'text-start', id: 'u' },
  { type: 'text-delta', id: 'u', delta: 'Three degrees.' },
  { type: 'text-end', id: 'u' },
  { type: 'message-metadata', messageMetadata: { region: 'b' } },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop', messageMetadata: { cost: 1 } },
];

const route = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`);
  response.end(`${events.join('')}data: [DONE]\n\n`);
});

let url = '';
let server: Server;

beforeAll(async () => {
  route.listen(0, '127.0.0.1');
  await once(route, 'listening');
  url = `http://127.0.0.1:${(route.address() as AddressInfo).port}`;
  const aiSdk = { url, emulator: '', ledger: '', pace: 0 };
  server = await Server.start({ agent: 'ai-sdk', aiSdk });
});

afterAll(async () => {
  await server?.stop();
  route.close();
});

/** The message of the assistant that a page has in the end. */
async function shown(major: Major, fetch: typeof globalThis.fetch, id: string) {
  const sdk = chatSdks[major];
  const page = new Page({
    sdk,
    id,
    messages: [],
    runTool: () => undefined,
    transport: new sdk.DefaultChatTransport({ fetch }),
    generateId: () => `said-${id}`,
    onWrite: () => {},
  });
  page.say('What is the weather in Oslo?');
  await untilIdle({
    isBusy: () => page.isBusy,
    activity: () => page.state.activity,
    // A response comes when it comes.
    pending: () => (page.isBusy ? setTimeout(1) : undefined),
  });
  expect(page.error).toBeUndefined();
  return page.state.messages.at(-1) as UIMessage;
}

type Part = Record<string, unknown> & { type: string };

/** What tells a part from the others. */
const nameOf = ({ type, toolName, text, data }: Part) =>
  [type, toolName ?? text ?? (data === undefined ? undefined : JSON.stringify(data))]
    .filter(word => word !== undefined)
    .join(' ');

/** The fields in which the parts of a message differ, with both values: the route's, and ours. */
function differences(direct: UIMessage, behind: UIMessage): Record<string, unknown> {
  const [theirs, ours] = [direct, behind].map(
    ({ parts }) => new Map((parts as Part[]).map(part => [nameOf(part), part])),
  ) as [Map<string, Part>, Map<string, Part>];
  const found: Record<string, unknown> = {};
  for (const name of new Set([...theirs.keys(), ...ours.keys()])) {
    const [their, our] = [theirs.get(name), ours.get(name)];
    if (their === undefined || our === undefined) {
      found[name] = their === undefined ? 'added' : 'left out';
      continue;
    }
    for (const field of new Set([...Object.keys(their), ...Object.keys(our)])) {
      // A call has an id of ours, under which it is in the journal.
      const isSame = JSON.stringify(their[field]) === JSON.stringify(our[field]);
      if (field !== 'toolCallId' && !isSame) {
        found[`${name}: ${field}`] = [their[field], our[field]];
      }
    }
  }
  return found;
}

test.each(majors)('a page of version %s is shown the parts of the route', async major => {
  const direct = await shown(major, (_, init) => fetch(`${url}/${major}/api/chat`, init), 'direct');
  const api = new Api(() => server.url, server.newPrincipal());
  const id = server.newChat();
  const behind = await shown(major, (_, init) => api.fetch('/api/chat', init), id);

  expect(differences(direct, behind)).toEqual({
    // Texts and reasonings are counted.
    'reasoning Hm.: id': ['r', '1'],
    // What a provider says of a text is between it and the route, which gets it back.
    'reasoning Hm.: providerMetadata': [{ google: { signature: 's' } }, undefined],
    // So that the client does not take the call for one that it has to answer.
    'tool-get_weather: providerExecuted': [undefined, true],
    'dynamic-tool found_at_run_time: providerExecuted': [undefined, true],
    'source-url: sourceId': ['s-1', expect.stringMatching(/^source-/)],
    'source-document: sourceId': ['s-2', expect.stringMatching(/^source-/)],
  });
  expect(behind.metadata).toMatchObject({ model: 'a', region: 'b', cost: 1 });
  const tool = (behind.parts as Part[]).find(({ type }) => type === 'tool-get_weather');
  expect(tool).toMatchObject({
    state: 'output-available',
    title: 'The weather',
    callProviderMetadata: { google: { thoughtSignature: 't' } },
  });
  // What is loaded is what was streamed.
  const chat = await api.chat(id);
  expect(differences(chat?.messages.at(-1) as UIMessage, behind)).toEqual({});
});
