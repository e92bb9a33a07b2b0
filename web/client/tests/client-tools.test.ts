/** Tools that the page runs: once, whatever announces them again. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clientTools } from '../src/client-tools.ts';

/** A chat that only takes outputs. */
function taker() {
  return { addToolOutput: vi.fn<(output: object) => Promise<void>>(async () => {}) };
}

/** A tab's storage, which outlives its pages. */
function storage() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => {
      values.set(key, value);
    },
  };
}

const call = (toolCallId: string, toolName = 'tool', input: unknown = { n: 1 }) => ({
  toolCall: { toolCallId, toolName, input },
});

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);

test('a call is run with its input, and its output given to the chat', async () => {
  const chat = taker();
  const run = vi.fn(async ({ n }: { n: number }) => ({ twice: n * 2 }));
  const tools = clientTools({ tool: run });
  tools.bind(chat);
  // The chat waits for what it gets back: a promise here would stop it.
  expect(tools.onToolCall(call('a'))).toBeUndefined();
  await settle();
  expect(run).toHaveBeenCalledWith({ n: 1 }, { toolCallId: 'a', signal: expect.any(AbortSignal) });
  expect(chat.addToolOutput.mock.calls).toEqual([
    [{ tool: 'tool', toolCallId: 'a', output: { twice: 2 } }],
  ]);
});

test('a tool that gives nothing gives null, which JSON has', async () => {
  const chat = taker();
  const tools = clientTools({ tool: () => {} });
  tools.bind(chat);
  tools.onToolCall(call('a'));
  await settle();
  expect(chat.addToolOutput).toHaveBeenCalledWith(expect.objectContaining({ output: null }));
});

test.each([
  [
    'throws',
    () => {
      throw new Error('no signal');
    },
    'no signal',
  ],
  [
    'rejects',
    async () => {
      throw new Error('no signal');
    },
    'no signal',
  ],
  [
    'throws something else',
    () => {
      throw 'no signal';
    },
    'no signal',
  ],
])('a tool that %s is reported', async (_, run, errorText) => {
  const chat = taker();
  const tools = clientTools({ tool: run });
  tools.bind(chat);
  tools.onToolCall(call('a'));
  await settle();
  expect(chat.addToolOutput.mock.calls).toEqual([
    [{ tool: 'tool', toolCallId: 'a', state: 'output-error', errorText }],
  ]);
});

test('a tool that takes too long is reported, and its late output is dropped', async () => {
  const chat = taker();
  let given: AbortSignal | undefined;
  let late: ((output: string) => void) | undefined;
  const run = (_input: unknown, { signal }: { signal: AbortSignal }) => {
    given = signal;
    return new Promise<string>(resolve => {
      late = resolve;
    });
  };
  const tools = clientTools({ tool: { run, timeoutMs: 500 }, other: run }, { timeoutMs: 9_000 });
  tools.bind(chat);
  tools.onToolCall(call('a'));
  await vi.advanceTimersByTimeAsync(499);
  expect(chat.addToolOutput).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(given?.aborted).toBe(true);
  late?.('too late');
  await settle();
  expect(chat.addToolOutput.mock.calls).toEqual([
    [
      {
        tool: 'tool',
        toolCallId: 'a',
        state: 'output-error',
        errorText: 'tool gave no output within 0.5 s.',
      },
    ],
  ]);
  tools.onToolCall(call('b', 'other'));
  await vi.advanceTimersByTimeAsync(8_999);
  expect(chat.addToolOutput).toHaveBeenCalledTimes(1);
});

test('a tool may take for ever', async () => {
  const chat = taker();
  const tools = clientTools({ tool: () => new Promise(() => {}) }, { timeoutMs: Infinity });
  tools.bind(chat);
  tools.onToolCall(call('a'));
  await vi.advanceTimersByTimeAsync(2 ** 31);
  expect(chat.addToolOutput).not.toHaveBeenCalled();
});

test('tools of others are left alone', async () => {
  const chat = taker();
  const tools = clientTools({ tool: () => 1 });
  tools.bind(chat);
  tools.onToolCall(call('a', 'process_payment'));
  tools.onToolCall(call('b', 'toString'));
  await settle();
  expect(chat.addToolOutput).not.toHaveBeenCalled();
});

test('a call that is announced again while it runs is run once, and answered once', async () => {
  const chat = taker();
  let finish: ((output: string) => void) | undefined;
  const run = vi.fn(
    () =>
      new Promise<string>(resolve => {
        finish = resolve;
      }),
  );
  const tools = clientTools({ tool: run });
  tools.bind(chat);
  tools.onToolCall(call('a'));
  tools.onToolCall(call('a'));
  await settle();
  finish?.('done');
  await settle();
  expect(run).toHaveBeenCalledTimes(1);
  expect(chat.addToolOutput).toHaveBeenCalledTimes(1);
});

test('a call that is announced again after it ran is answered again: the chat has forgotten', async () => {
  const chat = taker();
  const run = vi.fn(() => 'done');
  const tools = clientTools({ tool: run });
  tools.bind(chat);
  tools.onToolCall(call('a'));
  await settle();
  tools.onToolCall(call('a'));
  await settle();
  expect(run).toHaveBeenCalledTimes(1);
  expect(chat.addToolOutput).toHaveBeenCalledTimes(2);
  expect(chat.addToolOutput).toHaveBeenLastCalledWith(expect.objectContaining({ output: 'done' }));
});

describe('after a reload', () => {
  test('a call that had run is not run again', async () => {
    const tab = storage();
    const first = clientTools({ tool: () => 'done' }, { storage: tab });
    first.bind(taker());
    first.onToolCall(call('a'));
    await settle();

    const chat = taker();
    const run = vi.fn();
    const second = clientTools({ tool: run }, { storage: tab });
    second.bind(chat);
    second.onToolCall(call('a'));
    await settle();
    expect(run).not.toHaveBeenCalled();
    expect(chat.addToolOutput).toHaveBeenCalledWith(expect.objectContaining({ output: 'done' }));
  });

  test('the outcome of a call that ran when it happened is unknown', async () => {
    const tab = storage();
    const first = clientTools({ tool: () => new Promise(() => {}) }, { storage: tab });
    first.bind(taker());
    first.onToolCall(call('a'));
    await settle();

    const chat = taker();
    const run = vi.fn();
    const second = clientTools({ tool: run }, { storage: tab });
    second.bind(chat);
    second.onToolCall(call('a'));
    await settle();
    expect(run).not.toHaveBeenCalled();
    expect(chat.addToolOutput).toHaveBeenCalledWith(
      expect.objectContaining({
        state: 'output-error',
        errorText: expect.stringMatching(/reloaded.*unknown/),
      }),
    );
  });

  test('a call that does no harm twice is run again', async () => {
    const tab = storage();
    const first = clientTools({ tool: () => new Promise(() => {}) }, { storage: tab });
    first.bind(taker());
    first.onToolCall(call('a'));
    await settle();

    const chat = taker();
    const run = vi.fn(() => 'again');
    const second = clientTools({ tool: { run, isIdempotent: true } }, { storage: tab });
    second.bind(chat);
    second.onToolCall(call('a'));
    await settle();
    expect(run).toHaveBeenCalledTimes(1);
    expect(chat.addToolOutput).toHaveBeenCalledWith(expect.objectContaining({ output: 'again' }));
  });

  test('the calls of two chats of a page are both remembered', async () => {
    const tab = storage();
    const [one, two] = [
      clientTools({ tool: () => 1 }, { storage: tab }),
      clientTools({ tool: () => 2 }, { storage: tab }),
    ];
    one.bind(taker());
    two.bind(taker());
    one.onToolCall(call('a'));
    two.onToolCall(call('b'));
    await settle();

    const chat = taker();
    const run = vi.fn();
    const after = clientTools({ tool: run }, { storage: tab });
    after.bind(chat);
    after.onToolCall(call('a'));
    after.onToolCall(call('b'));
    await settle();
    expect(run).not.toHaveBeenCalled();
    expect(chat.addToolOutput.mock.calls).toMatchObject([[{ output: 1 }], [{ output: 2 }]]);
  });

  test.each(['{', '{}', '[1,["a"],["b",{"x":1}]]'])('%s in the storage is nothing', async text => {
    const tab = storage();
    tab.setItem('adk-stream.calls', text);
    const run = vi.fn(() => 1);
    const tools = clientTools({ tool: run }, { storage: tab });
    tools.bind(taker());
    tools.onToolCall(call('a'));
    tools.onToolCall(call('b'));
    await settle();
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('a storage that is full or forbidden does no harm', async () => {
    const broken = {
      getItem: () => {
        throw new Error('forbidden');
      },
      setItem: () => {
        throw new Error('full');
      },
    };
    const chat = taker();
    const run = vi.fn(() => 1);
    const tools = clientTools({ tool: run }, { storage: broken });
    tools.bind(chat);
    tools.onToolCall(call('a'));
    tools.onToolCall(call('a'));
    await settle();
    expect(run).toHaveBeenCalledTimes(1);
    expect(chat.addToolOutput).toHaveBeenCalledTimes(1);
  });
});
