/** What changes, over one stream of the page, and over one of all tabs that nobody sees. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { until } from '../../conformance/src/server/until.ts';
import { type ServerEvent, serverEvents } from '../src/server-events.ts';

type Stream = { say: (type: string, data: object) => void; isOpen: boolean; lastId: string | null };

/** The server's side: who asks, and the streams that are open. */
class Streams {
  readonly all: Stream[] = [];
  principal: string | undefined = 'ann';
  #events = 0;

  get open(): Stream[] {
    return this.all.filter(({ isOpen }) => isOpen);
  }

  readonly fetch: typeof fetch = async (input, init) => {
    if (String(input) === '/api/info') {
      const { principal } = this;
      return principal === undefined
        ? Response.json({}, { status: 401 })
        : Response.json({ principal });
    }
    const text = new TextEncoder();
    const stream: Stream = {
      isOpen: true,
      lastId: new Headers(init?.headers).get('last-event-id'),
      say: () => undefined,
    };
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        stream.say = (type, data) => {
          const block = `id: ${++this.#events}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
          controller.enqueue(text.encode(block));
        };
        init?.signal?.addEventListener('abort', () => {
          stream.isOpen = false;
          controller.error(init.signal?.reason);
        });
      },
    });
    this.all.push(stream);
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** The locks of a browser, of which this environment may have none. */
class Locks {
  readonly #queues = new Map<string, Promise<unknown>[]>();

  request = async (
    name: string,
    options: { ifAvailable?: boolean; signal?: AbortSignal },
    take: (lock: object | null) => unknown,
  ): Promise<unknown> => {
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    if (options.ifAvailable === true && queue.length > 0) {
      return take(null);
    }
    const before = queue.at(-1);
    const held = (async () => {
      await before;
      options.signal?.throwIfAborted();
      return take({});
    })();
    const isOver = held.catch(() => undefined);
    queue.push(isOver);
    void isOver.then(() => queue.splice(queue.indexOf(isOver), 1));
    return held;
  };
}

const page = new EventTarget() as EventTarget & { visibilityState: string };

function turn(visibilityState: 'hidden' | 'visible'): void {
  page.visibilityState = visibilityState;
  page.dispatchEvent(new Event('visibilitychange'));
}

const leaves: (() => void)[] = [];

/** A tab that follows, and the events that it received. */
function tab({ fetch }: Streams, api = '/api/events') {
  const events = serverEvents({ api, fetch, retryMs: 1 });
  const got: ServerEvent[] = [];
  const leave = events.subscribe(event => got.push(event));
  leaves.push(leave);
  return { got, leave, events };
}

beforeEach(() => {
  page.visibilityState = 'visible';
  vi.stubGlobal('document', page);
  vi.stubGlobal('navigator', { locks: new Locks() });
});

afterEach(() => {
  for (const leave of leaves.splice(0)) {
    leave();
  }
  vi.unstubAllGlobals();
});

const opened = { approvalId: 'a', chatId: 'c' };

test('each tab that is seen has a stream of its own', async () => {
  const streams = new Streams();
  const tabs = [tab(streams), tab(streams)];
  await until('both are open', () => streams.open.length === 2);
  streams.open[0]?.say('approval-opened', opened);
  await until('it is received', () => tabs[0]?.got.length === 1);
  expect(tabs[1]?.got).toEqual([]);
});

test('tabs that nobody sees share one stream, which the next takes over', async () => {
  const streams = new Streams();
  const [first, second] = [tab(streams), tab(streams)];
  await until('both are open', () => streams.open.length === 2);
  streams.open[0]?.say('reset', {});
  await until('it is received', () => first.got.length === 1);
  turn('hidden');
  await until('one is left', () => streams.open.length === 1);
  const [left] = streams.open;
  left?.say('approval-opened', opened);
  await until('both have received it', () => first.got.length === 2 && second.got.length === 1);
  expect(second.got).toEqual([{ type: 'approval-opened', data: opened }]);

  // The tab that has it is closed.
  const [closed, other] =
    streams.all.indexOf(left as Stream) === 0 ? [first, second] : [second, first];
  closed.leave();
  await until('another has it', () => streams.open.length === 1 && streams.open[0] !== left);
  const before = other.got.length;
  streams.open[0]?.say('approval-closed', opened);
  await until('it is received', () => other.got.length > before);

  // And when it is seen again, it has a stream of its own that goes on where it was.
  turn('visible');
  await until('it goes on', () => streams.open.length === 1);
  streams.open[0]?.say('reset', {});
  await until('it is received', () => other.got.at(-1)?.type === 'reset');
});

test('a tab of somebody else receives no events but its own', async () => {
  const [ann, bob] = [new Streams(), new Streams()];
  bob.principal = 'bob';
  const [hers, his] = [tab(ann), tab(bob)];
  await until('both are open', () => ann.open.length === 1 && bob.open.length === 1);
  turn('hidden');
  bob.open[0]?.say('approval-opened', opened);
  await until('he has received it', () => his.got.length === 1);
  ann.open[0]?.say('reset', {});
  await until('she has received hers', () => hers.got.length === 1);
  expect(his.got).toHaveLength(1);
  expect(hers.got).toEqual([{ type: 'reset' }]);
});

test('where nobody can say who has the stream, no hidden tab keeps one', async () => {
  for (const spoil of [
    (streams: Streams) => {
      streams.principal = undefined;
    },
    () => vi.stubGlobal('navigator', {}),
  ]) {
    const streams = new Streams();
    page.visibilityState = 'visible';
    const { leave } = tab(streams);
    await until('it is open', () => streams.open.length === 1);
    spoil(streams);
    turn('hidden');
    await until('it is closed', () => streams.open.length === 0);
    turn('visible');
    await until('it is open again', () => streams.open.length === 1);
    leave();
  }
});

test('a tab that is opened where nobody sees it follows, too', async () => {
  page.visibilityState = 'hidden';
  const streams = new Streams();
  const { got } = tab(streams);
  await until('it is open', () => streams.open.length === 1);
  streams.open[0]?.say('reset', {});
  await until('it is received', () => got.length === 1);
});

test('a page in place of the stream is a server that is away, and is asked less and less often', async () => {
  vi.useFakeTimers();
  const html = { headers: { 'content-type': 'text/html; charset=utf-8' } };
  const asked: number[] = [];
  const fetch = async () => {
    asked.push(Date.now());
    return new Response('<!doctype html>', html);
  };
  const events = serverEvents({ api: '/api/events', fetch, retryMs: 1_000 });
  leaves.push(events.subscribe(() => undefined));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events.state.get()).toBe('away');
  const pauses = asked.slice(1).map((time, index) => time - (asked[index] ?? 0));
  // Half of each pause is left to chance.
  expect(Math.min(...pauses.slice(3))).toBeGreaterThanOrEqual(2_500);
  vi.useRealTimers();
});
