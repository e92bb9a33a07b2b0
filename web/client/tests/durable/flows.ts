/** What a durable chat promises, with the real server and the real chats of each framework. */
import { isDeepStrictEqual } from 'node:util';
import { DefaultChatTransport } from 'ai';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { Api } from '../../../conformance/src/server/api.ts';
import { Server } from '../../../conformance/src/server/server.ts';
import { shown } from '../../../conformance/src/server/shown.ts';
import { until } from '../../../conformance/src/server/until.ts';
import { ApiError } from '../../src/api-error.ts';
import type { DurableChatOptions } from '../../src/durable-chat.ts';
import {
  type DurableChats,
  type DurableChatsOptions,
  durableChats,
} from '../../src/durable-chats.ts';
import { AdkStreamChatTransport } from '../../src/transport.ts';
import { withErrors } from '../../src/with-errors.ts';
import { Network } from '../server/network.ts';
import { DurablePage, type Mount } from './page.ts';

const ways = ['sse', 'bidi'] as const;
type Way = (typeof ways)[number];

export function durableFlows(mount: Mount): void {
  let server: Server;
  let network: Network;
  let api: Api;
  let headers: Record<string, string>;
  let served: DurableChats[] = [];
  let pages: DurablePage[] = [];

  beforeAll(async () => {
    server = await Server.start({ store: 'memory', pace: 2 });
    network = await Network.start(() => server.url);
    // As a browser is at the page that the server serves.
    setUrl(network.url);
  });
  afterAll(async () => {
    setUrl('about:blank');
    await network.stop();
    await server.stop();
  });
  beforeEach(() => {
    sessionStorage.clear();
    const principal = server.newPrincipal();
    api = new Api(() => network.url, principal);
    headers = { authorization: `Bearer ${principal?.key}` };
  });
  afterEach(() => {
    for (const page of pages) {
      page.unmount();
    }
    for (const { transport } of served) {
      if (transport instanceof AdkStreamChatTransport) {
        transport.close();
      }
    }
    pages = [];
    served = [];
  });

  /** The chats of one page, over either transport. */
  function chatsOver(way: Way, options: DurableChatsOptions = {}): DurableChats {
    const base = `${network.url}/api`;
    const chats = durableChats({
      base,
      headers,
      fetch: fetchAsBrowsers,
      ...(way === 'sse' && {
        transport: ({ prepareReconnectToStreamRequest }) =>
          withErrors(
            new DefaultChatTransport({
              api: `${base}/chat`,
              headers,
              fetch: fetchAsBrowsers,
              prepareReconnectToStreamRequest,
            }),
          ),
      }),
      ...options,
    });
    served.push(chats);
    return chats;
  }

  function open(id: string, chats: DurableChats, options: Partial<DurableChatOptions> = {}) {
    const page = new DurablePage(mount, { id, chats, ...options });
    pages.push(page);
    return page;
  }

  const shows = (page: DurablePage, ...outline: string[]) =>
    until(`the page shows ${outline}`, () => isDeepStrictEqual(page.outline, outline));

  const idle = (page: DurablePage) => until('the page is idle', () => page.isIdle);

  /** A page in the middle of a text that takes some seconds. */
  async function listen(id: string, way: Way): Promise<DurablePage> {
    const page = open(id, chatsOver(way), { isNew: true });
    await idle(page);
    void page.actions.sendMessage({ text: 'take your time' });
    await until('some words have come', () => page.text.length > 60);
    return page;
  }

  /** The page shows what the server has, and nothing is wrong with it. */
  async function expectServed(page: DurablePage, id: string, status: string): Promise<void> {
    await until(`the page shows the chat as it is, ${status}`, async () => {
      const chat = await api.chat(id);
      return (
        page.isIdle &&
        chat?.status === status &&
        JSON.stringify(shown(chat.messages)) === JSON.stringify(shown(page.shown.messages as never))
      );
    });
    expect(page.shown.error).toBeUndefined();
  }

  test.each(ways)('a turn that ends between load and resume is shown whole, over %s', async way => {
    const id = `ended-${way}`;
    const first = await listen(id, way);
    const chats = chatsOver(way);
    let loads = 0;
    const load: DurableChats['load'] = async (chatId, signal) => {
      const chat = await chats.load(chatId, signal);
      if (loads++ === 0) {
        expect(chat?.status).toBe('running');
        const before = first.text.length;
        await until('more was said', () => first.text.length > before + 20);
        expect(await api.stop(id)).toBe(true);
        await until('it is stopped', async () => (await api.chat(id))?.status === 'stopped');
      }
      return chat;
    };
    const page = open(id, { ...chats, load });
    await expectServed(page, id, 'stopped');
    await expectServed(first, id, 'stopped');
    expect(page.text).toBe(first.text);
  });

  test.each(ways)('a reload in the middle stops nothing and shows no less, over %s', async way => {
    const id = `reloaded-${way}`;
    const first = await listen(id, way);
    first.unmount();
    const page = open(id, chatsOver(way));
    await until(
      'it goes on',
      () => page.isThere && page.shown.status === 'streaming' && page.text.length > 120,
    );
    expect((await api.chat(id))?.status).toBe('running');
    await page.actions.stop();
    await expectServed(page, id, 'stopped');
    expect(page.sawLess).toBe(false);
  });

  test.each(ways)('what is answered elsewhere goes on here, over %s', async way => {
    const id = `elsewhere-${way}`;
    const page = open(id, chatsOver(way), { isNew: true });
    await idle(page);
    await page.actions.sendMessage({ text: 'Send $20 to Sam' });
    await shows(page, 'process_payment: approval-requested');
    const [approval] = await api.approvals();
    await api.answer(approval?.approvalId ?? '', { approved: true });
    await until('it is paid', () => page.outline[0] === 'process_payment: output-available');
    await expectServed(page, id, 'finished');
  });

  test.each(ways)('what is said in another tab is shown in this one, over %s', async way => {
    const id = `tabs-${way}`;
    const first = open(id, chatsOver(way), { isNew: true });
    await idle(first);
    await first.actions.sendMessage({ text: 'What is the weather in Oslo?' });
    const second = open(id, chatsOver(way));
    await expectServed(second, id, 'finished');
    await second.actions.sendMessage({ text: 'What is the weather in Rome?' });
    await until('both answers are in the first', () => first.shown.messages.length === 4);
    await expectServed(first, id, 'finished');
    expect(first.sawLess).toBe(false);
  });

  test('a chat whose connection was lost goes on by itself', async () => {
    const id = 'lost';
    const page = await listen(id, 'sse');
    network.isDown = true;
    network.cut();
    await until('it knows', () => page.shown.status === 'error');
    const before = page.text.length;
    network.isDown = false;
    await until('it goes on', () => page.text.length > before + 40);
    await page.actions.stop();
    await expectServed(page, id, 'stopped');
    expect(page.sawLess).toBe(false);
  });

  test('a message that never arrived stays, to be sent again', async () => {
    const id = 'unheard';
    const page = open(id, chatsOver('sse'), { isNew: true });
    await idle(page);
    await page.actions.sendMessage({ text: 'What is the weather in Oslo?' });
    await expectServed(page, id, 'finished');
    network.isDown = true;
    network.cut();
    await page.actions.sendMessage({ text: 'And in Rome?' });
    await until('it failed', () => page.shown.status === 'error');
    network.isDown = false;
    await page.actions.refresh();
    expect(page.text).toContain('And in Rome?');
    expect(page.shown.error).toBeInstanceOf(TypeError);
  });

  test('an answer that was not sent yet is kept, and sent when the last one is given', async () => {
    const id = 'unsent';
    const page = open(id, chatsOver('bidi'), { isNew: true });
    await idle(page);
    await page.actions.sendMessage({ text: 'Pay Ann $1 and Ben $2' });
    const asked = 'process_payment: approval-requested';
    await shows(page, asked, asked);
    const [ann, ben] = await api.approvals();
    page.actions.addToolApprovalResponse({ id: ben?.approvalId ?? '', approved: true });
    await api.answer(ann?.approvalId ?? '', { approved: true });
    const paid = 'process_payment: output-available';
    await until('both are paid', () => page.outline.every(line => line === paid));
    await expectServed(page, id, 'finished');
  });

  /** What pages send from here on, over whichever transport. */
  function watchRequests(): { fetch: typeof fetch; bodies: string[] } {
    const bodies: string[] = [];
    const Real = globalThis.WebSocket;
    vi.stubGlobal(
      'WebSocket',
      class extends Real {
        override send(data: string): void {
          bodies.push(data);
          super.send(data);
        }
      },
    );
    onTestFinished(() => void vi.stubGlobal('WebSocket', Real));
    const watched: typeof fetch = (input, init) => {
      if (init?.method === 'POST') {
        bodies.push(String(init.body));
      }
      return fetchAsBrowsers(input, init);
    };
    return { fetch: watched, bodies };
  }

  describe.each(['shared', 'v7'] as const)('in the profile %s', profile => {
    const isShared = profile === 'shared';
    const options = isShared ? {} : { profile };

    test.each(isShared ? ways : (['bidi'] as const))(
      'an answer in the chat brings the digest of what was shown, over %s',
      async way => {
        const id = `digest-${profile}-${way}`;
        const { fetch, bodies } = watchRequests();
        const transport: DurableChatsOptions['transport'] =
          way === 'sse'
            ? ({ prepareReconnectToStreamRequest }) =>
                new DefaultChatTransport({
                  api: `${network.url}/api/chat`,
                  headers,
                  fetch,
                  prepareReconnectToStreamRequest,
                })
            : undefined;
        const page = open(
          id,
          chatsOver('bidi', { ...options, fetch, ...(transport && { transport }) }),
          { isNew: true },
        );
        await idle(page);
        await page.actions.sendMessage({ text: 'Send $20 to Sam' });
        await shows(page, 'process_payment: approval-requested');
        const [approval] = await api.approvals();
        page.actions.addToolApprovalResponse({ id: approval?.approvalId ?? '', approved: true });
        await until('it is paid', () => page.outline[0] === 'process_payment: output-available');
        const answers = bodies.filter(body => body.includes('"approval-responded"'));
        expect(answers).not.toEqual([]);
        for (const body of answers) {
          expect(body).toContain(`"digest":"${approval?.digest}"`);
        }
      },
    );

    test('an answer by its own route brings the digest of what was shown', async () => {
      const id = `digest-${profile}-route`;
      const { fetch, bodies } = watchRequests();
      const page = open(id, chatsOver('bidi', { ...options, fetch }), { isNew: true });
      await idle(page);
      await page.actions.sendMessage({ text: 'Send $20 to Sam' });
      await shows(page, 'process_payment: approval-requested');
      const [approval] = await api.approvals();
      await page.actions.answer(approval?.approvalId ?? '', { approved: true });
      const { digest } = approval ?? {};
      expect(bodies.filter(isAnswer).map(read)).toEqual([{ approved: true, digest }]);
    });
  });

  test('an answer to what was asked before is refused, and the next one is to what is asked now', async () => {
    const id = 'digest-changed';
    const chats = chatsOver('sse');
    let reads = 0;
    const read: DurableChats['approvals']['read'] = async approvalId => {
      const record = await chats.approvals.read(approvalId);
      // As if the question had been another one when it was shown.
      return reads++ === 0 && record ? { ...record, digest: '0'.repeat(64) } : record;
    };
    const page = open(id, { ...chats, approvals: { ...chats.approvals, read } }, { isNew: true });
    await idle(page);
    await page.actions.sendMessage({ text: 'Send $20 to Sam' });
    await shows(page, 'process_payment: approval-requested');
    const [approval] = await api.approvals();
    const answer = { id: approval?.approvalId ?? '', approved: true };
    page.actions.addToolApprovalResponse(answer);
    await until('it is refused', () => page.shown.error !== undefined);
    expect(page.shown.error).toMatchObject({ code: 'approval_changed' });
    expect(await api.approvals(), 'it is still asked').toHaveLength(1);
    await page.actions.refresh();
    await shows(page, 'process_payment: approval-requested');
    page.actions.addToolApprovalResponse(answer);
    await until('it is paid', () => page.outline[0] === 'process_payment: output-available');
    expect(reads).toBe(2);
  });

  test('what is done while a message is begun again is done to all of it', async () => {
    const id = 'replayed';
    const first = open(id, chatsOver('bidi'), { isNew: true });
    await idle(first);
    await first.actions.sendMessage({ text: 'What is the weather in Oslo?' });
    await first.actions.sendMessage({ text: 'Send $20 to Sam' });
    await shows(first, 'get_weather: output-available', 'process_payment: approval-requested');
    first.unmount();

    const chats = chatsOver('bidi');
    let begin = () => {};
    const isBegun = new Promise<void>(resolve => {
      begin = resolve;
    });
    const transport: DurableChatOptions['transport'] = {
      sendMessages: options => chats.transport.sendMessages(options),
      reconnectToStream: async options => {
        await isBegun;
        return chats.transport.reconnectToStream(options);
      },
    };
    const page = open(id, chats, { transport });
    await shows(page, 'get_weather: output-available', 'process_payment: approval-requested');
    const [, part] = page.calls;
    const approvalId = (part as { approval?: { id: string } }).approval?.id ?? '';
    page.actions.addToolApprovalResponse({ id: approvalId, approved: true });
    const said = page.actions.sendMessage({ text: 'And what is the weather in Rome?' });
    begin();
    await said;
    await expectServed(page, id, 'finished');
    // Nothing was cut off, as a message would that follows an earlier one.
    expect(page.shown.messages).toHaveLength(6);
  });

  test('an answer by its own route is decided at once, and the chat reads on', async () => {
    const id = 'answered';
    const page = open(id, chatsOver('bidi'), { isNew: true });
    await idle(page);
    await page.actions.sendMessage({ text: 'Send $20 to Sam' });
    await shows(page, 'process_payment: approval-requested');
    const [part] = page.calls;
    const approvalId = (part as { approval?: { id: string } }).approval?.id ?? '';
    const { isOurs } = await page.actions.answer(approvalId, { approved: false, reason: 'no' });
    expect(isOurs).toBe(true);
    await until('it is denied', () => page.outline[0] === 'process_payment: output-denied');
    await expectServed(page, id, 'finished');
  });

  test('an output that is given together with the approval of its call is not lost', async () => {
    const id = 'early';
    const page = open(id, chatsOver('sse'), { isNew: true });
    await idle(page);
    await page.actions.sendMessage({ text: 'Where am I?' });
    await shows(page, 'get_location: approval-requested');
    const [part] = page.calls;
    const { toolCallId, approval } = part as { toolCallId: string; approval?: { id: string } };
    const output = { latitude: 59.91, longitude: 10.75, city: 'Oslo' };
    page.actions.addToolApprovalResponse({ id: approval?.id ?? '', approved: true });
    page.actions.addToolOutput({ tool: 'get_location', toolCallId, output });
    await until('it has run', () => page.outline[0] === 'get_location: output-available');
    await expectServed(page, id, 'finished');
    expect(page.text).toContain('Oslo');
  });

  test('a tool of the page runs once, also after a reload', async () => {
    const id = 'tool';
    const run = vi.fn(({ track }: { track: number }) => ({ success: true, track }));
    // The first page has no such tool, and leaves the call open.
    const first = open(id, chatsOver('bidi'), { isNew: true });
    await idle(first);
    await first.actions.sendMessage({ text: 'Play track 2' });
    await shows(first, 'change_bgm: input-available');
    first.unmount();
    const page = open(id, chatsOver('bidi'), { tools: { change_bgm: run } });
    await until('it has run', () => page.outline[0] === 'change_bgm: output-available');
    await expectServed(page, id, 'finished');
    expect(run.mock.calls.map(([input]) => input)).toEqual([{ track: 2 }]);
  });

  test('a chat that there is none of is missing, and a refusal is not asked again', async () => {
    const page = open('none', chatsOver('bidi'));
    await idle(page);
    expect(page.shown).toMatchObject({ isMissing: true, loadError: undefined, messages: [] });

    const loads = vi.fn<typeof fetch>(async () => Response.json({}, { status: 401 }));
    const refused = open('refused', chatsOver('bidi', { fetch: loads }));
    const error = await until('it is refused', () => refused.isThere && refused.shown.loadError);
    expect(error).toBeInstanceOf(ApiError);
    expect(refused.shown.isLoaded).toBe(false);
  });

  test('why the last turn failed is known after a reload', async () => {
    const id = 'failed';
    const first = open(id, chatsOver('bidi'), { isNew: true });
    await idle(first);
    await first.actions.sendMessage({ text: 'fail with refused key' });
    const { status, error } = (await api.chat(id)) ?? {};
    expect(status).toBe('failed');
    const page = open(id, chatsOver('bidi'));
    await idle(page);
    expect(page.shown.failure).toMatchObject({ code: error?.code, message: error?.message });
  });
}

const setUrl = (url: string) =>
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(url);

const read = (body: string): unknown => JSON.parse(body);

const isAnswer = (body: string) => body.startsWith('{"approved"');

/** Browsers say that a connection failed by a `TypeError`, before a response and in the middle of it. */
const fetchAsBrowsers: typeof fetch = async (input, init) => {
  const failed = (error: unknown): never => {
    throw init?.signal?.aborted ? error : new TypeError('network error');
  };
  const response = await globalThis.fetch(input, init).catch(failed);
  if (response.body === null) {
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async controller => {
      const { done, value } = await reader.read().catch(failed);
      return done ? controller.close() : controller.enqueue(value);
    },
    cancel: reason => reader.cancel(reason),
  });
  const { status, headers } = response;
  return new Response(body as BodyInit, { status, headers });
};
