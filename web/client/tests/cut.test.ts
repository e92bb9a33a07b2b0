/** The connection is lost at every frame: the chat ends with what it would have had without that. */
import { describe, expect, test } from 'vitest';
import type { Fault } from './support/fake-server.ts';
import { flowNamed, flows, plainText } from './support/flows.ts';
import { type Played, play, shown } from './support/play.ts';

const replays: Record<string, Fault> = {
  'read again as it was': {},
  'read again from a journal': { replayForm: { mergesDeltas: true } },
};

describe.each(flows)('$name', flow => {
  function expectSame(played: Played, whole: Played, where: string) {
    expect(played.chat.error, where).toBeUndefined();
    expect(played.chat.status, where).toBe('ready');
    expect(shown(played), where).toEqual(shown(whole));
    expect(played.chat.watch.sawBack, where).toBe(false);
    expect(played.runs, where).toBe(flow.runs);
  }

  test('without a fault', async () => {
    const whole = await play(flow);
    expect(whole.chat.error).toBeUndefined();
    expect(whole.chat.outline).toEqual(flow.outline);
    expect(whole.runs).toBe(flow.runs);
    expect(whole.server.sockets).toHaveLength(1);
    expect(whole.server.received.map(({ type }) => type)).toEqual(flow.windows.map(() => 'send'));
  });

  test.each(Object.entries(replays))('cut at every frame, %s', async (_, fault) => {
    const whole = await play(flow);
    for (let cut = 0; cut < whole.server.count; cut++) {
      const played = await play(flow, { ...fault, cutsAt: [cut] });
      expectSame(played, whole, `cut at frame ${cut}`);
      // With its finish the chat has all there is: nobody comes back for the end of the window.
      const isEnd = cut === whole.server.count - 1;
      expect(played.server.sockets, `cut at frame ${cut}`).toHaveLength(isEnd ? 1 : 2);
    }
  });

  // Every pair of all flows would take minutes; these two have an approval, and a tool of the page.
  const isThorough = /^a payment that is approved|^a tool of the page behind/.test(flow.name);

  if (isThorough) {
    test('cut twice, at every pair of frames', async () => {
      const whole = await play(flow);
      const frames = whole.server.count;
      for (let first = 0; first < frames; first++) {
        for (let second = first + 1; second < frames + 4; second++) {
          const played = await play(flow, { cutsAt: [first, second] });
          expectSame(played, whole, `cut at frames ${first} and ${second}`);
        }
      }
    });
  }

  test('cut again and again', async () => {
    const whole = await play(flow);
    for (const every of [3, 4, 5, 7]) {
      // Each connection delivers a few frames more than it replays.
      let frame = 0;
      const cutsAt = Array.from({ length: 12 }, (_, index) => {
        frame += every + index * every;
        return frame;
      });
      expectSame(await play(flow, { cutsAt }), whole, `cut every ${every} frames`);
    }
  });

  test('what the client says is lost, at every frame', async () => {
    const whole = await play(flow);
    for (let lost = 0; lost < whole.server.received.length; lost++) {
      const played = await play(flow, { losesAt: lost });
      expectSame(played, whole, `lost frame ${lost}`);
    }
  });
});

test('what a chat has is not sent again', async () => {
  const whole = await play(plainText);
  for (let cut = 0; cut < whole.server.count; cut++) {
    const { server } = await play(plainText, { cutsAt: [cut] });
    // One more for the frame that was lost, and one or two for the start of the second request.
    expect(server.count, `cut at frame ${cut}`).toBeLessThanOrEqual(whole.server.count + 3);
  }
});

test('what is prepared for the server is not what the chat has', async () => {
  const flow = flowNamed('a payment that is approved');
  const whole = await play(flow);
  for (let cut = 0; cut < whole.server.count; cut++) {
    // A server that has the history needs no more than the answer.
    const played = await play(
      flow,
      { cutsAt: [cut] },
      {
        prepareSendMessagesRequest: ({ messages }) => ({
          messages: messages.slice(-1).map(message => ({
            ...message,
            parts: message.parts.filter(({ type }) => type !== 'reasoning'),
          })),
        }),
      },
    );
    expect(played.chat.error, `cut at frame ${cut}`).toBeUndefined();
    expect(shown(played), `cut at frame ${cut}`).toEqual(shown(whole));
  }
});
