/** `WorkflowChatTransport` as it comes: no content type, no chat id, and its own way to resume. */
import { WorkflowChatTransport } from '@ai-sdk/workflow';
import type { ChatTransport, UIMessage } from 'ai-7';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Page } from '../../src/page.ts';
import { chatSdks } from '../../src/sdk.ts';
import type { Api } from '../../src/server/api.ts';
import { until } from '../../src/server/until.ts';
import { callsOf, toolName } from '../../src/tool-part.ts';
import { serve } from '../turn/served.ts';

const served = serve();

/** What was asked for, in order. */
type SentRequest = {
  method: string;
  path: string;
  contentType: string | null;
  runId: string | null;
};

/** A page with the transport, whose first response is cut after some events, if it is to be. */
function open(api: Api, id: string, cutAfter?: number) {
  const asked: SentRequest[] = [];
  let cut = cutAfter;
  const transport = new WorkflowChatTransport({
    fetch: async (input, init = {}) => {
      const path = String(input);
      const method = init.method ?? 'GET';
      const contentType = new Headers(init.headers).get('content-type');
      const response = await api.fetch(path, init);
      const runId = response.headers.get('x-workflow-run-id');
      asked.push({ method, path, contentType, runId });
      const after = cut;
      cut = undefined;
      return after === undefined ? response : cutOff(response, after);
    },
  });
  let generated = 0;
  const page = new Page({
    sdk: chatSdks['7'],
    id,
    messages: [],
    // The package brings types of a release of its own.
    transport: transport as unknown as ChatTransport<UIMessage>,
    runTool: () => undefined,
    generateId: () => `${id}-${++generated}`,
    onWrite: () => {},
  });
  return { page, asked };
}

/** The response, until this many events have come. */
function cutOff(response: Response, events: number): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    throw new Error('the response has no body');
  }
  let left = events;
  const decoder = new TextDecoder('latin1');
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        controller.close();
        return;
      }
      const text = decoder.decode(value);
      let end = 0;
      while (left > 0 && text.indexOf('\n\n', end) !== -1) {
        end = text.indexOf('\n\n', end) + 2;
        left -= 1;
      }
      controller.enqueue(value.slice(0, left > 0 ? value.length : end));
      if (left === 0) {
        controller.close();
        await reader.cancel();
      }
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Waits until something is to be seen, and the page is at rest. */
const seen = (page: Page, what: string, is: () => boolean) =>
  until(what, () => is() && !page.isBusy, { timeoutMs: 25_000 });

const stateOf = (page: Page) => page.state.messages.flatMap(callsOf)[0]?.state;

const textOf = ({ parts }: UIMessage): string =>
  parts.map(part => (part.type === 'text' ? part.text : '')).join('');

test('a payment is approved, though no request names its type or its chat', async () => {
  const api = served.meet();
  const { page, asked } = open(api, served.server.newChat());
  page.say('Send $20 to Sam');
  await seen(page, 'somebody is asked', () => stateOf(page) === 'approval-requested');
  const [part] = page.state.messages.flatMap(callsOf);
  expect(part && toolName(part)).toBe('process_payment');
  page.answer(String(part?.approval?.id), true);
  await seen(page, 'it is paid', () => stateOf(page) === 'output-available');

  expect(page.error).toBeUndefined();
  expect(textOf(page.state.messages.at(-1) as UIMessage)).toMatch(/Sam/);
  expect((await api.wallet()).payments).toHaveLength(1);
  expect(asked).toHaveLength(2);
  for (const { method, contentType, runId } of asked) {
    expect([method, contentType]).toEqual(['POST', null]);
    expect(runId).toMatch(/^run_/);
  }
});

test.each([3, 8, 20])('cut after %i events, it goes on behind them', async events => {
  // The transport reports the cut on the console.
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => reported.mockRestore());
  const api = served.meet();
  const { page, asked } = open(api, served.server.newChat(), events);
  page.say('take your time');
  await seen(page, 'it has asked again', () => asked.length === 2);

  expect(page.error).toBeUndefined();
  expect(asked).toHaveLength(2);
  expect(asked[1]?.path).toBe(`/api/chat/${asked[0]?.runId}/stream?startIndex=${events}`);
  const { chats } = (await (await api.fetch('/api/chats')).json()) as { chats: { id: string }[] };
  const chat = await until('the chat is over', async () => {
    const chat = await api.chat(String(chats[0]?.id));
    return chat?.status === 'finished' && chat;
  });
  const shown = page.state.messages.at(-1) as UIMessage;
  expect(textOf(shown), 'nothing is missing, and nothing there twice').toBe(
    textOf(chat.messages.at(-1) as UIMessage),
  );
});

test('a run that the server does not have is said to be lost', async () => {
  const api = served.meet();
  const lost = await api.fetch('/api/chat/run_0123456789ab/stream?startIndex=7');
  expect(lost.status).toBe(409);
  expect(await lost.json()).toMatchObject({ error: { code: 'run_lost' } });
  const bad = await api.fetch('/api/chat/c/stream?startIndex=x');
  expect(bad.status).toBe(400);
});

test('a page that has nothing to resume gets no error', async () => {
  const api = served.meet();
  const { page, asked } = open(api, served.server.newChat());
  page.resume();
  await seen(page, 'it has asked', () => asked.length === 1);
  expect(page.error).toBeUndefined();
  expect(page.state.messages).toEqual([]);
});
