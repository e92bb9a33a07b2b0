/** What must not be done twice is sent again under the same id: an edit and a new try open a turn each. */
import { describe, expect, test } from 'vitest';
import type { SendFrame } from '../src/frame.ts';
import { plainText } from './support/flows.ts';
import { open, type Played } from './support/play.ts';

/** A chat that has been answered once. */
async function answered(): Promise<Played> {
  const { windows } = plainText;
  const played = open({ ...plainText, windows: [...windows, ...windows] });
  await played.chat.say('hi');
  return played;
}

/** Loses the connection when the next `send` comes, before or after the server has received it. */
function loseNext({ server }: Played, isReceived: boolean) {
  const receive = server.receive.bind(server);
  let isLost = false;
  server.receive = (socket, frame) => {
    if (isLost || frame.type !== 'send') {
      receive(socket, frame);
      return;
    }
    isLost = true;
    socket.lose();
    if (isReceived) {
      receive(socket, frame);
    }
  };
}

const sends = ({ server }: Played) =>
  server.received.filter((frame): frame is SendFrame => frame.type === 'send');

describe.each([true, false])('the server has received it: %s', isReceived => {
  const count = isReceived ? 2 : 1;

  function expectOnce(played: Played) {
    const last = sends(played).slice(-count);
    expect(played.chat.error).toBeUndefined();
    expect(last).toHaveLength(count);
    expect(new Set(last.map(({ requestId }) => requestId)).size).toBe(1);
    expect(played.server.turn.opened).toBe(2);
    expect(played.chat.text).toMatch(/five/);
    expect(played.chat.messages).toHaveLength(2);
  }

  test('an edit', async () => {
    const played = await answered();
    loseNext(played, isReceived);
    const id = played.chat.messages[0]?.id ?? '';
    void played.chat.sendMessage({ text: 'hello', messageId: id });
    await played.chat.idle();
    expectOnce(played);
  });

  test('a new try', async () => {
    const played = await answered();
    loseNext(played, isReceived);
    void played.chat.regenerate();
    await played.chat.idle();
    expectOnce(played);
  });
});

test('every request has an id of its own', async () => {
  const played = await answered();
  void played.chat.regenerate();
  await played.chat.idle();
  const [first, second] = sends(played);
  expect(first?.requestId).toMatch(/^[0-9a-f]{32}$/);
  expect(second?.requestId).not.toBe(first?.requestId);
});
