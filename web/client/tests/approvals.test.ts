/** The list of open approvals: when it is read, and the outcome of an answer. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../src/api-error.ts';
import { type Approval, ApprovalChangedError } from '../src/approval.ts';
import { approvals } from '../src/approvals.ts';

const approval = (approvalId: string): Approval => ({
  approvalId,
  chatId: 'chat',
  toolCallId: 'call',
  toolName: 'process_payment',
  input: { amount: 5 },
  inputText: '{"amount":5}',
  question: 'Pay?',
  digest: `digest of ${approvalId}`,
  askedAt: 1,
});

let open: Approval[];
const fetch = vi.fn<typeof globalThis.fetch>();

beforeEach(() => {
  vi.useFakeTimers();
  open = [approval('a'), approval('b')];
  fetch.mockReset();
  fetch.mockImplementation(async (_url, init) =>
    Response.json(
      init?.method === 'POST'
        ? { approvalId: 'a', approved: true, decidedBy: 'me', decidedAt: 2 }
        : { approvals: open },
    ),
  );
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const reads = () => fetch.mock.calls.filter(([, init]) => init?.method !== 'POST').length;

describe('the list', () => {
  test('is read while somebody looks at it', async () => {
    const store = approvals({ fetch, pollMs: 1000, headers: { 'x-key': 'k' } });
    expect(store.get()).toEqual({ approvals: [], isLoaded: false, error: undefined });
    await vi.advanceTimersByTimeAsync(5000);
    expect(fetch).not.toHaveBeenCalled();

    const [leave, leaveToo] = [store.subscribe(() => {}), store.subscribe(() => {})];
    await settle();
    expect(store.get()).toEqual({ approvals: open, isLoaded: true, error: undefined });
    expect(fetch).toHaveBeenCalledWith('/api/approvals', { headers: { 'x-key': 'k' } });
    await vi.advanceTimersByTimeAsync(3000);
    expect(reads()).toBe(4);
    leave();
    leave();
    await vi.advanceTimersByTimeAsync(1000);
    expect(reads()).toBe(5);
    leaveToo();
    await vi.advanceTimersByTimeAsync(5000);
    expect(reads()).toBe(5);
  });

  test('is read to its last page', async () => {
    const pages = new Map([
      ['/api/approvals', { approvals: [approval('a')], nextCursor: 'c/1' }],
      [
        '/api/approvals?limit=200&cursor=c%2F1',
        { approvals: [approval('a'), approval('b')], nextCursor: 'c2' },
      ],
      // A server that never comes to an end is not followed for ever.
      ['/api/approvals?limit=200&cursor=c2', { approvals: [approval('c')], nextCursor: 'c2' }],
    ]);
    fetch.mockImplementation(async url => Response.json(pages.get(String(url))));
    const store = approvals({ fetch });
    await store.refresh();
    expect(store.get().approvals.map(({ approvalId }) => approvalId)).toEqual(['a', 'b', 'c']);
    expect(reads()).toBe(3);
  });

  test('notifies of changes only', async () => {
    const store = approvals({ fetch, pollMs: 1000 });
    const listener = vi.fn();
    const leave = store.subscribe(listener);
    await settle();
    const before = store.get();
    await vi.advanceTimersByTimeAsync(5000);
    expect(listener).toHaveBeenCalledTimes(1);
    expect(store.get()).toBe(before);
    open = [];
    await vi.advanceTimersByTimeAsync(1000);
    expect(listener).toHaveBeenCalledTimes(2);
    leave();
  });

  test('is read when somebody comes back to the page, and not while nobody sees it', async () => {
    const target = new EventTarget();
    const document = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
    vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
    vi.stubGlobal('removeEventListener', target.removeEventListener.bind(target));
    vi.stubGlobal('document', document);
    const store = approvals({ fetch, pollMs: 1000 });
    const leave = store.subscribe(() => {});
    await vi.advanceTimersByTimeAsync(5000);
    expect(reads()).toBe(1);
    document.visibilityState = 'visible';
    document.dispatchEvent(new Event('visibilitychange'));
    await settle();
    expect(reads()).toBe(2);
    target.dispatchEvent(new Event('focus'));
    await settle();
    expect(reads()).toBe(3);
    leave();
    target.dispatchEvent(new Event('focus'));
    await settle();
    expect(reads()).toBe(3);
  });

  test('stays as it was when it can not be read', async () => {
    const store = approvals({ fetch, pollMs: 1000 });
    const leave = store.subscribe(() => {});
    await settle();
    fetch.mockRejectedValueOnce(new TypeError('fetch failed'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.get()).toMatchObject({ approvals: open, error: { message: 'fetch failed' } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.get().error).toBeUndefined();
    leave();
  });

  test('an older reading that comes late is ignored', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    let late: ((response: Response) => void) | undefined;
    fetch.mockReturnValueOnce(
      new Promise(resolve => {
        late = resolve;
      }),
    );
    const first = store.refresh();
    await store.refresh();
    late?.(Response.json({ approvals: [] }));
    await first;
    expect(store.get().approvals).toEqual(open);
  });
});

test('inputs come with their text, to the last digit', async () => {
  const store = approvals({ fetch, pollMs: 0 });
  const { input: _, inputText: __, ...rest } = approval('a');
  const written = JSON.stringify(rest).replace('{', '{"input":{"n":9007199254740993,"d":0.10},');
  fetch.mockImplementation(
    async url => new Response(url === '/api/approvals' ? `{"approvals":[${written}]}` : written),
  );
  await store.refresh();
  expect(store.get().approvals[0]?.inputText).toBe('{"n":9007199254740993,"d":0.10}');
  expect((await store.read('a'))?.inputText).toBe('{"n":9007199254740993,"d":0.10}');
});

describe('an answer', () => {
  test('takes the question off the list at once', async () => {
    const store = approvals({ fetch, pollMs: 0, api: '/there' });
    await store.refresh();
    const result = await store.answer('a', {
      approved: true,
      reason: 'fine',
      input: { amount: 1 },
    });
    expect(result).toMatchObject({ isOurs: true, decision: { approved: true, decidedBy: 'me' } });
    expect(fetch).toHaveBeenCalledWith('/there/a', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"approved":true,"reason":"fine","input":{"amount":1},"digest":"digest of a"}',
    });
    expect(store.get().approvals).toEqual([approval('b')]);
    // Even if the server's list is not that far yet.
    await store.refresh();
    expect(store.get().approvals).toEqual([approval('b')]);
  });

  test('that comes too late gets the decision', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    await store.refresh();
    const decision = {
      approvalId: 'a',
      approved: false,
      reason: 'no',
      decidedBy: 'x',
      decidedAt: 1,
    };
    fetch.mockResolvedValueOnce(
      Response.json(
        { error: { code: 'already_decided', message: 'x' }, decision },
        { status: 409 },
      ),
    );
    expect(await store.answer('a', { approved: true })).toEqual({ isOurs: false, decision });
    expect(store.get().approvals).toEqual([approval('b')]);
  });

  test('that is refused leaves the question open', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    await store.refresh();
    fetch.mockResolvedValueOnce(
      Response.json(
        { error: { code: 'invalid_input', message: 'amount: a number' } },
        { status: 422 },
      ),
    );
    const answered = store.answer('a', { approved: true, input: {} });
    await expect(answered).rejects.toThrow(ApiError);
    await expect(answered).rejects.toMatchObject({ status: 422, code: 'invalid_input' });
    expect(store.get().approvals).toEqual(open);
  });

  test('can be given as text, which is sent verbatim', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    await store.answer('x', { approved: true, inputText: '{"n":9007199254740993}', digest: 'd' });
    const { body } = fetch.mock.calls[0]?.[1] ?? {};
    expect(body).toBe('{"approved":true,"digest":"d","input":{"n":9007199254740993}}');
  });

  test('to something else than what is asked now is refused with what is asked now', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    await store.refresh();
    const current = { ...approval('a'), question: 'Pay more?', digest: 'other' };
    fetch.mockResolvedValueOnce(
      Response.json(
        { error: { code: 'approval_changed', message: 'x' }, digest: 'other', approval: current },
        { status: 409 },
      ),
    );
    const error = await store.answer('a', { approved: true }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ApprovalChangedError);
    expect(error).toMatchObject({ status: 409, approval: { question: 'Pay more?' } });
    expect(store.get().approvals, 'nothing was decided').toEqual(open);
    expect(store.digestOf('a'), 'the next answer is to what is asked now').toBe('other');
  });

  test('is to what was shown, whatever the list says since', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    await store.refresh();
    open = [{ ...approval('a'), question: 'Pay more?', digest: 'other' }];
    await store.refresh();
    expect(store.get().approvals).toEqual(open);
    await store.answer('a', { approved: true });
    const body = fetch.mock.calls.find(([, init]) => init?.method === 'POST')?.[1]?.body;
    expect(body).toBe('{"approved":true,"digest":"digest of a"}');
    // What is read by its id is read to be shown.
    fetch.mockResolvedValueOnce(Response.json(open[0]));
    await store.read('a');
    expect(store.digestOf('a')).toBe('other');
  });

  test('that was never listed is read by its id', async () => {
    const store = approvals({ fetch, pollMs: 0 });
    fetch.mockResolvedValueOnce(Response.json(approval('z')));
    expect(await store.read('z')).toMatchObject({ approvalId: 'z', digest: 'digest of z' });
    expect(store.digestOf('z')).toBe('digest of z');
    fetch.mockResolvedValueOnce(
      Response.json({ error: { code: 'unknown_approval', message: 'x' } }, { status: 404 }),
    );
    expect(await store.read('y')).toBeUndefined();
  });
});
