// @vitest-environment happy-dom
/** The real `useChat` of each major, in React's strict mode, where everything is mounted twice. */
import { useChat } from '@ai-sdk/react';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../../conformance/src/server/until.ts';
import type { Approval } from '../src/approval.ts';
import { useApprovals, useClientTools, useConnection } from '../src/react.ts';
import { sendAutomaticallyWhen } from '../src/send-automatically.ts';
import { AdkStreamChatTransport } from '../src/transport.ts';
import type { AdkStreamChatTransportOptions } from '../src/transport-options.ts';
import { FakeServer } from './support/fake-server.ts';
import { FakeTurn } from './support/fake-turn.ts';
import { flowNamed } from './support/flows.ts';
import { isVersion7 } from './support/major.ts';

let root: Root;
let page: HTMLElement;

beforeEach(() => {
  sessionStorage.clear();
  page = document.body.appendChild(document.createElement('main'));
  root = createRoot(page);
});

afterEach(() => {
  root.unmount();
  page.remove();
});

const shows = (words: string) =>
  until(`the page shows ${words}`, () => page.textContent?.includes(words));

const click = async (name: string) => {
  const button = await until(`there is a button ${name}`, () =>
    [...page.querySelectorAll('button')].find(({ textContent }) => textContent === name),
  );
  button.click();
};

describe('a chat', () => {
  let turns = 0;

  function setUp(flow: string, options: AdkStreamChatTransportOptions = {}) {
    const server = new FakeServer(new FakeTurn(`react-${++turns}`, [...flowNamed(flow).windows]));
    const transport = new AdkStreamChatTransport({
      api: 'http://fake/api/chat',
      webSocket: server.WebSocket,
      fetch: server.fetch,
      ...options,
    });
    const run = vi.fn((input: unknown) => ({ ran: input }));
    return { server, transport, run };
  }

  function Chat({
    transport,
    run,
    resume = false,
  }: ReturnType<typeof setUp> & { resume?: boolean }) {
    const light = useConnection(transport);
    // Made again with every render, as pages do.
    const tools = useClientTools({
      change_bgm: (input: unknown) => run(input),
      get_location: (input: unknown) => run(input),
    });
    const chat = useChat({
      id: 'chat',
      transport,
      resume,
      sendAutomaticallyWhen,
      onToolCall: tools.onToolCall,
    });
    tools.bind(chat);
    const parts = chat.messages.flatMap(message => message.parts);
    // StrictMode unmounts everything once, and version 7 stops what was begun before that.
    const [isMounted, setMounted] = useState(false);
    useEffect(() => setMounted(true), []);
    return (
      <>
        <p>{`${light}, ${chat.status}`}</p>
        {isMounted && (
          <button type="button" onClick={() => void chat.sendMessage({ text: 'hi' })}>
            say
          </button>
        )}
        {parts.map((part, index) => {
          const key = `${part.type} ${index}`;
          if ('approval' in part && part.state === 'approval-requested') {
            const { id } = part.approval;
            return (
              <button
                key={key}
                type="button"
                onClick={() => void chat.addToolApprovalResponse({ id, approved: true })}
              >
                approve
              </button>
            );
          }
          return <p key={key}>{part.type === 'text' ? part.text : part.type}</p>;
        })}
      </>
    );
  }

  const render = (props: ReturnType<typeof setUp> & { resume?: boolean }) =>
    root.render(
      <StrictMode>
        <Chat {...props} />
      </StrictMode>,
    );

  test('runs a tool of the page once', async () => {
    const chat = setUp('a tool of the page');
    render(chat);
    await shows('closed, ready');
    await click('say');
    await shows('All is done.');
    await shows('open, ready');
    expect(chat.run).toHaveBeenCalledTimes(1);
    expect(chat.server.received.map(({ type }) => type)).toEqual(['send', 'send']);
  });

  test('runs a tool of the page behind an approval once', async () => {
    const chat = setUp('a tool of the page behind an approval');
    render(chat);
    await click('say');
    await click('approve');
    await shows('All is done.');
    expect(chat.run).toHaveBeenCalledTimes(1);
  });

  test('that is resumed twice runs a tool once, and stops no turn', async () => {
    const chat = setUp('a tool of the page');
    chat.server.turn.opened = 1;
    render({ ...chat, resume: true });
    await shows('All is done.');
    await shows('open, ready');
    expect(chat.run).toHaveBeenCalledTimes(1);
    expect(chat.server.posts).toEqual([]);
  });

  test('after a reload gives the output again that it had, and does not run again', async () => {
    const chat = setUp('a tool of the page');
    chat.server.turn.opened = 1;
    // The tool had run, and the page was left before the output was sent.
    sessionStorage.setItem('adk-stream.calls', JSON.stringify([['a', { output: { ran: {} } }]]));
    render({ ...chat, resume: true });
    await shows('All is done.');
    expect(chat.run).not.toHaveBeenCalled();
    const sent = chat.server.received.find(({ type }) => type === 'send');
    expect(JSON.stringify(sent)).toContain('"output":{"ran":{}}');
  });

  test.each([true, false])('that is unmounted, with stopOnAbort %s', async stopOnAbort => {
    const chat = setUp('a tool of the page', { stopOnAbort });
    // A window that stays open.
    chat.server.intruder = (frame, count) => (count < 3 ? [frame] : []);
    render(chat);
    await click('say');
    await shows('open, submitted');
    root.unmount();
    // Version 7 aborts when it unmounts; only the option makes that stop the turn.
    const aborts = () => chat.server.received.filter(frame => frame.type === 'abort');
    const expected = stopOnAbort ? { type: 'abort', stop: true, id: 'chat' } : { type: 'abort' };
    await until('it is aborted', () => aborts().length === (isVersion7 ? 1 : 0));
    expect(aborts().map(({ requestId: _, ...frame }) => frame)).toEqual(
      isVersion7 ? [expected] : [],
    );
    expect(chat.server.posts).toEqual([]);
    root = createRoot(page);
  });
});

/** Between two reads of the list. */
const POLL_MS = 5;

describe('approvals', () => {
  const approval: Approval = {
    approvalId: 'a',
    chatId: 'elsewhere',
    toolCallId: 'call',
    toolName: 'process_payment',
    input: { amount: 5 },
    question: 'Pay 5?',
    askedAt: 1,
  };

  function Approvals({ fetch }: { fetch: typeof globalThis.fetch }) {
    const { approvals, isLoaded, error, approve, deny } = useApprovals({
      fetch: (input, init) => fetch(input, init),
      headers: () => ({ 'x-key': 'k' }),
      pollMs: POLL_MS,
    });
    return (
      <>
        <p>{isLoaded ? 'loaded' : 'loading'}</p>
        <p>{error?.message}</p>
        {approvals.map(({ approvalId, question }) => (
          <p key={approvalId}>
            {question}
            <button
              type="button"
              onClick={() => void approve(approvalId, { reason: 'fine', input: { amount: 1 } })}
            >
              approve
            </button>
            <button type="button" onClick={() => void deny(approvalId, { reason: 'no' })}>
              deny
            </button>
          </p>
        ))}
      </>
    );
  }

  const served = () => {
    let open = [approval];
    const answers: unknown[] = [];
    const fetch = vi.fn<typeof globalThis.fetch>(async (_url, init) => {
      expect(new Headers(init?.headers).get('x-key')).toBe('k');
      if (init?.method !== 'POST') {
        return Response.json({ approvals: open });
      }
      answers.push(JSON.parse(String(init.body)));
      open = [];
      return Response.json({ approvalId: 'a', approved: true, decidedAt: 2 });
    });
    return { fetch, answers };
  };

  test.each([
    ['approve', { approved: true, reason: 'fine', input: { amount: 1 } }],
    ['deny', { approved: false, reason: 'no' }],
  ])('can be answered from anywhere: %s', async (button, answer) => {
    const { fetch, answers } = served();
    root.render(
      <StrictMode>
        <Approvals fetch={fetch} />
      </StrictMode>,
    );
    await shows('Pay 5?');
    await click(button);
    await until('it is gone', () => page.querySelector('button') === null);
    expect(answers).toEqual([answer]);
  });

  test('are not read any more when nobody looks', async () => {
    const begin = vi.spyOn(globalThis, 'setInterval');
    const end = vi.spyOn(globalThis, 'clearInterval');
    onTestFinished(() => {
      begin.mockRestore();
      end.mockRestore();
    });
    const open = () => {
      const begun = begin.mock.results.filter((_, nth) => begin.mock.calls[nth]?.[1] === POLL_MS);
      expect(begun).not.toEqual([]);
      return begun.filter(({ value }) => !end.mock.calls.some(([timer]) => timer === value));
    };
    const { fetch } = served();
    root.render(
      <StrictMode>
        <Approvals fetch={fetch} />
      </StrictMode>,
    );
    await shows('Pay 5?');
    expect(open()).toHaveLength(1);
    root.unmount();
    root = createRoot(page);
    await until('every timer is stopped', () => open().length === 0);
  });
});
