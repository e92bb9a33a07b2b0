/** Frames that a good server would not send. */
import { describe, expect, test } from 'vitest';
import { flowNamed } from './support/flows.ts';
import { atOnce, open, type Played, play, shown } from './support/play.ts';

const flow = flowNamed('a tool of the page behind an approval');

/** Plays the flow with a server that sends something else in place of its n-th frame. */
async function withIntruder(
  at: number,
  instead: (frame: object) => (object | string)[],
  attempts = 30,
) {
  const played = open(flow, {}, { reconnect: { ...atOnce, attempts } });
  played.server.intruder = (frame, count) => (count === at ? instead(frame) : [frame]);
  await played.chat.say('hi');
  for (const act of flow.acts) {
    act(played.chat);
    await played.chat.idle();
  }
  return played;
}

const garbage: Record<string, (frame: object) => (object | string)[]> = {
  'what is not JSON': () => ['{'],
  'nothing at all': () => [''],
  'a list': () => [[]],
  'a frame without a type': frame => [{ ...frame, type: undefined }],
  'a frame without its request': frame => [{ ...frame, requestId: undefined }],
  'a frame of an unknown kind': frame => [{ ...frame, type: 'dance' }],
  'a chunk that is none': frame => [{ ...frame, type: 'chunk', sequence: 0, chunk: 'x' }],
  'a chunk without a sequence': frame => [
    { ...frame, type: 'chunk', sequence: undefined, chunk: { type: 'x' } },
  ],
};

describe.each(Object.entries(garbage))('%s', (_, instead) => {
  test('costs a connection and nothing else, wherever it comes', async () => {
    const whole = await play(flow);
    for (let at = 0; at < whole.server.count; at++) {
      const played = await withIntruder(at, instead);
      expect(played.chat.error, `at frame ${at}`).toBeUndefined();
      expect(shown(played), `at frame ${at}`).toEqual(shown(whole));
      expect(played.runs, `at frame ${at}`).toBe(1);
    }
  });
});

test('a frame that is missing is fetched', async () => {
  const whole = await play(flow);
  let isSeen = 0;
  for (let at = 0; at < whole.server.count; at++) {
    const played = open(flow);
    played.server.intruder = (frame, count) => (count === at ? [] : [frame]);
    // Only a chunk that another follows leaves a gap.
    const type = frameTypes(whole)[at];
    if (type === 'chunk' && frameTypes(whole)[at + 1] === 'chunk') {
      isSeen++;
      await played.chat.say('hi');
      await played.chat.answer(true);
      expect(played.chat.error, `without frame ${at}`).toBeUndefined();
      expect(shown(played), `without frame ${at}`).toEqual(shown(whole));
      expect(played.server.sockets, `without frame ${at}`).toHaveLength(2);
    }
  }
  expect(isSeen).toBeGreaterThan(8);
});

function frameTypes({ server }: Played): string[] {
  return server.turn.windows.flatMap(window => [
    'start',
    ...Array.from({ length: window.length + 2 }, () => 'chunk'),
    'end',
  ]);
}

test('frames that come twice count once', async () => {
  const whole = await play(flow);
  const played = open(flow);
  played.server.intruder = frame => [frame, frame];
  await played.chat.say('hi');
  await played.chat.answer(true);
  expect(shown(played)).toEqual(shown(whole));
  expect(played.server.sockets).toHaveLength(1);
});

test('frames for nobody are nobody’s concern', async () => {
  const whole = await play(flow);
  const played = open(flow);
  played.server.intruder = frame => [
    { type: 'pong', timestamp: 1 },
    { type: 'chunk', requestId: 'somebody', sequence: 7, chunk: { type: 'error', errorText: 'x' } },
    frame,
  ];
  await played.chat.say('hi');
  await played.chat.answer(true);
  expect(shown(played)).toEqual(shown(whole));
  expect(played.server.sockets).toHaveLength(1);
});

test('a server that never makes sense is given up', async () => {
  const played = open(flow, {}, { reconnect: { ...atOnce, attempts: 4 } });
  played.server.intruder = (frame, count) => (count % 3 === 2 ? ['garbage'] : [frame]);
  await played.chat.say('hi');
  expect(played.chat.error?.message).toMatch(/network connection/);
  expect(played.transport.connection.get()).toBe('closed');
  // The first brought something new; the others only what was there already.
  expect(played.server.sockets.length).toBeLessThan(12);
});
