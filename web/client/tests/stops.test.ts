/** A stop reaches the turn that it is meant for, and no other. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChatApi } from '../src/chat-api.ts';
import { Stops } from '../src/stops.ts';

const fetch = vi.fn<typeof globalThis.fetch>();
let stops: Stops;

beforeEach(() => {
  vi.useFakeTimers();
  fetch.mockReset();
  fetch.mockImplementation(async () => Response.json({ stopped: true }));
  stops = new Stops(new ChatApi({ api: '/api/chat', fetch }));
});

afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);

/** Whether a promise is settled by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await settle();
  return done;
}

test('is sent until it is delivered', async () => {
  fetch.mockRejectedValueOnce(new TypeError('fetch failed'));
  fetch.mockImplementationOnce(async () => Response.json({}, { status: 503 }));
  stops.begin('a/b');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(fetch).toHaveBeenCalledTimes(3);
  expect(fetch.mock.calls[0]?.[0]).toBe('/api/chat/a%2Fb/stop');
});

test('what is said next waits for one that is on its way', async () => {
  let answer: ((response: Response) => void) | undefined;
  fetch.mockReturnValueOnce(
    new Promise(resolve => {
      answer = resolve;
    }),
  );
  stops.begin('a');
  await settle();
  const settled = stops.settled('a');
  expect(await isDone(stops.settled('b'))).toBe(true);
  expect(await isDone(settled)).toBe(false);
  answer?.(Response.json({ stopped: true }));
  expect(await isDone(settled)).toBe(true);
});

test('what is said next does not wait for one that can not be delivered', async () => {
  fetch.mockRejectedValue(new TypeError('fetch failed'));
  stops.begin('a');
  await settle();
  expect(await isDone(stops.settled('a'))).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fetch).toHaveBeenCalledTimes(1);
});
