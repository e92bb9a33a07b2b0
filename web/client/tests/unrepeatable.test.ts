/** What must not be asked twice: an edit and a new try open a turn each time. */
import { describe, expect, test } from 'vitest';
import type { SendFrame } from '../src/frame.ts';
import { plainText } from './support/flows.ts';
import { open, type Played } from './support/play.ts';

/** A chat that has been answered once. */
async function answered(): Promise<Played> {
  const { windows } = plainText;
  const played = open({ ...plainText, windows: [...windows, ...windows] });
  await played.chat.say('hi');
  played.server.messages = played.chat.shown;
  return played;
}

/** Loses the connection when the n-th `send` comes, before or after the server has received it. */
function loseAt(played: Played, count: number, isReceived: boolean, taken: () => unknown[]) {
  const { server } = played;
  const receive = server.receive.bind(server);
  let sends = 0;
  server.receive = (socket, frame) => {
    if (frame.type === 'send' && ++sends === count) {
      if (isReceived) {
        server.received.push(frame);
        server.messages = taken();
      }
      socket.lose();
    } else {
      receive(socket, frame);
    }
  };
}

const sends = ({ server }: Played) =>
  server.received.filter((frame): frame is SendFrame => frame.type === 'send');

describe.each([true, false])('the server has received it: %s', isReceived => {
  test('an edit', async () => {
    const played = await answered();
    const id = played.chat.messages[0]?.id ?? '';
    const edited = { id, role: 'user', parts: [{ type: 'text', text: 'hello' }] };
    loseAt(played, 1, isReceived, () => [edited]);
    void played.chat.sendMessage({ text: 'hello', messageId: id });
    await played.chat.idle();

    expect(played.chat.error).toBeUndefined();
    expect(sends(played)).toHaveLength(2);
    expect(played.server.received.at(-1)?.type).toBe(isReceived ? 'resume' : 'send');
    expect(played.chat.text).toMatch(/five/);
  });

  test('a new try', async () => {
    const played = await answered();
    loseAt(played, 1, isReceived, () => played.chat.shown.slice(0, 1));
    void played.chat.regenerate();
    await played.chat.idle();

    expect(played.chat.error).toBeUndefined();
    expect(sends(played)).toHaveLength(2);
    expect(played.server.received.at(-1)?.type).toBe(isReceived ? 'resume' : 'send');
    expect(played.chat.messages).toHaveLength(2);
  });
});

test('a new message is repeated: the server knows it by its id', async () => {
  const played = open(plainText);
  loseAt(played, 1, true, () => []);
  await played.chat.say('hi');

  expect(played.chat.error).toBeUndefined();
  const [first, second] = sends(played);
  expect(second?.messages).toEqual(first?.messages);
  expect(second?.requestId).not.toBe(first?.requestId);
});
