// @vitest-environment happy-dom
/** The snippets of the README, which are the files in tests/readme, on the real server. */
import { AnswerChangedError, approvals, type StoredChat } from '@adk-stream/client';
import { useApprovals } from '@adk-stream/client/react';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { createRoot, type Root } from 'react-dom/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from '../../../conformance/src/server/until.ts';
import { durableOverHttp, durablePage } from '../readme/durable.tsx';
import { played } from '../readme/music.ts';
import { Page } from '../readme/page.tsx';
import * as readme from '../readme/snippets.tsx';
import { storedOverHttp, storedPage } from '../readme/stored.tsx';
import { MemoryChat } from '../support/memory-chat.ts';
import { serve } from './visitor.ts';

let root: Root;
let page: HTMLElement;
let chats = 0;

const setUrl = (url: string) =>
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(url);

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

/** Reads a stream to its end, and returns its first chunk. */
async function firstOf(stream: ReadableStream<UIMessageChunk> | null) {
  let first: UIMessageChunk | undefined;
  for await (const chunk of stream ?? []) {
    first ??= chunk;
  }
  return first;
}

describe('without keys', () => {
  const server = serve({ isOpen: true });

  // As a browser is at the page that the server serves.
  beforeAll(() => setUrl(server().url));
  afterAll(() => setUrl('about:blank'));

  test('the page streams answers and runs its tool', async () => {
    root.render(<Page />);
    await click('Play track 2');
    await shows('tool-change_bgm: output-available');
    await shows('status: ready');
    expect(played).toEqual([2]);
  });

  test('errors of the transport over HTTP have the code of the server', async () => {
    const chat = new MemoryChat({ id: 'not an id\n', transport: readme.overHttp() });
    await chat.say('Hello');
    expect(chat.error).toMatchObject({ name: 'AdkStreamError' });
  });

  test('an answer that changed is read from its start', () => {
    const resumeStream = vi.fn(async () => {});
    const { onError } = readme.resumeChanged({ resumeStream });
    onError(new Error('another'));
    expect(resumeStream).not.toHaveBeenCalled();
    onError(new AnswerChangedError());
    expect(resumeStream).toHaveBeenCalledOnce();
  });
});

describe('with keys', () => {
  const server = serve({ pace: 2 });
  let key: string;
  let headers: () => Record<string, string>;
  let transport: ReturnType<typeof readme.withTicket>['transport'];

  beforeAll(() => setUrl(server().url));
  afterAll(() => setUrl('about:blank'));

  beforeEach(() => {
    key = server().newPrincipal()?.key ?? '';
    ({ headers, transport } = readme.withTicket(() => key));
  });

  afterEach(() => transport.close());

  function open(by: ChatTransport<UIMessage> = transport): MemoryChat {
    const tools = readme.pageTools();
    const { onToolCall } = tools;
    const chat = new MemoryChat({ id: `readme-${++chats}`, transport: by, onToolCall });
    tools.bind(chat);
    return chat;
  }

  test('a ticket opens the socket, and tools of the page run', async () => {
    const chat = open();
    await chat.say('Play track 3');
    expect(chat.outline).toEqual(['change_bgm: output-available']);
    expect(played.at(-1)).toBe(3);
  });

  test('a chat that is loaded is resumed to its end, and a button stops the turn', async () => {
    const chat = open();
    void chat.sendMessage({ text: 'take your time' });
    await until('some words have come', () => chat.text.length > 20);
    const loaded = storedPage(root, headers);
    await loaded.open(chat.id);
    await shows('status: streaming');
    const box = document.createElement('div');
    const stop = createRoot(box);
    stop.render(<readme.Stop transport={transport} chat={chat} />);
    (await until('there is a button', () => box.querySelector('button') ?? undefined)).click();
    await shows('status: ready');
    await chat.idle();
    await shows(chat.text);
    stop.unmount();

    const messages = (await loaded.chats.load(chat.id)) as StoredChat;
    expect(messages.status).toBe('stopped');
    loaded.chats.note(chat.id, 1);
    const over = storedOverHttp(loaded.chats, headers);
    const stream = await over.reconnectToStream({ chatId: chat.id });
    expect(await firstOf(stream)).toMatchObject({ type: 'start' });
    loaded.transport.close();
  });

  test('a durable chat goes on where it was left, and runs its tool', async () => {
    const chat = open();
    await chat.say('Send $20 to Sam');
    const { Chat, chats } = durablePage(headers);
    root.render(<Chat id={chat.id} />);
    await shows('tool-process_payment: approval-requested');
    chat.give(true);
    await chat.sendMessage();
    await shows('tool-process_payment: output-available');
    await click('Play track 2');
    await shows('tool-change_bgm: output-available');
    expect(played.at(-1)).toBe(2);
    const stored = await durableOverHttp(headers).load(chat.id);
    expect(stored?.messages).toHaveLength(4);
    (chats.transport as typeof transport).close();
  });

  test('the inbox lists what waits, and answers it', async () => {
    const chat = open();
    await chat.say('Send $20 to Sam');
    root.render(<readme.Inbox headers={headers} />);
    await shows('Send 20 USD to Sam?');
    await click('Deny');
    await until('the list is empty', () => page.querySelector('button') === null);
  });

  test('an answer with an edited input says whether it was the first', async () => {
    const chat = open();
    await chat.say('Send $20 to Sam');
    const answers: unknown[] = [];
    function Less() {
      const inbox = useApprovals({ headers });
      return inbox.approvals.map(approval => (
        <button
          key={approval.approvalId}
          type="button"
          onClick={async () => answers.push(await readme.approveLess(inbox, approval))}
        >
          less
        </button>
      ));
    }
    root.render(<Less />);
    await click('less');
    await until('it is answered', () => answers.length === 1);
    expect(answers).toMatchObject([{ isOurs: true, decision: { approved: true, reason: 'less' } }]);
  });

  test('answers over HTTP carry the digests of a store', async () => {
    const chat = open();
    await chat.say('Send $20 to Sam');
    const store = approvals({ headers });
    await store.refresh();
    const [approval] = store.get().approvals;
    expect(approval?.digest).toBeDefined();
    chat.give(true);
    const sent = vi.spyOn(globalThis, 'fetch');
    const stream = await readme.digestsOverHttp(store).sendMessages({
      chatId: chat.id,
      messages: chat.messages,
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
      headers: headers(),
    });
    await firstOf(stream);
    expect(String(sent.mock.calls[0]?.[1]?.body)).toContain(approval?.digest);
    sent.mockRestore();
  });

  test('a question that asks for data is found among the parts, and answered', async () => {
    const chat = open();
    await chat.say('Book a table');
    const asked: string[] = [];
    const message = chat.messages.at(-1);
    if (message === undefined) throw new Error('there is no message');
    readme.answerQuestions(chat, message, question => {
      asked.push(question);
      return { date: '2026-12-24', time: '19:00', people: 4, contact: { name: 'Ann' } };
    });
    void chat.sendMessage();
    await chat.idle();
    expect(asked).toEqual(['When, and for how many?']);
    expect(chat.outline).toEqual(['book_table: output-available', 'ask_user: output-available']);
  });

  test('speech follows its message on the socket', async () => {
    const chat = open();
    readme.speak(transport, chat, new Int16Array(320));
    await chat.idle();
    expect(chat.error).toMatchObject({ code: 'audio_unsupported' });
  });
});
