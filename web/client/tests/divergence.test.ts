/** The server begins a step again, and says something else in it than it did before. */
import { describe, expect, test } from 'vitest';
import { AnswerChangedError } from '../src/chat-window.ts';
import type { Chunk } from '../src/chunk.ts';
import type { Flow } from './support/flows.ts';
import { isVersion7 } from './support/major.ts';
import { open, type Played } from './support/play.ts';

const saying = (...words: string[]): Chunk[] => [
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  ...words.map(delta => ({ type: 'text-delta', id: '1', delta })),
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
];

const before = saying('Kept.');

const first: Flow = {
  name: 'what was said first',
  windows: [[...before, ...saying('Good', ' morning', ' Ann')]],
  acts: [],
  runs: 0,
  outline: [],
};

/** Cuts the connection in the middle of the text, and has the server say something else after it. */
async function replayed(words: string[], profile: 'shared' | 'v7'): Promise<Played> {
  const cut = 6 + before.length;
  const played = open(first, { cutsAt: [cut] }, { profile });
  played.server.intruder = (frame, count) => {
    if (count === cut - 1) {
      played.server.turn.windows[0] = [...before, ...saying(...words)];
    }
    return [frame];
  };
  await played.chat.say('hi');
  return played;
}

const replays = {
  'another text': ['Good', ' evening', ' Ben'],
  'a shorter one': ['Good'],
  'none at all': [],
};

describe.each(Object.entries(replays))('%s', (_, words) => {
  test('a chat that can not forget has to begin again', async () => {
    const { chat, server } = await replayed(words, 'shared');
    expect(chat.error).toBeInstanceOf(AnswerChangedError);
    expect(server.sockets).toHaveLength(2);

    await chat.resumeStream();
    await chat.idle();
    expect(chat.error).toBeUndefined();
    expect(chat.text).toBe(`Kept.${words.join('')}`);
    expect(chat.messages).toHaveLength(2);
  });

  // Version 6 has no chunk for it.
  if (isVersion7) {
    test('a chat that can forget drops that step, and no other', async () => {
      const { chat, server } = await replayed(words, 'v7');
      expect(chat.error).toBeUndefined();
      expect(chat.status).toBe('ready');
      expect(chat.text).toBe(`Kept.${words.join('')}`);
      expect(chat.messages).toHaveLength(2);
      expect(server.sockets).toHaveLength(2);
    });
  }
});

test('what continues where it was is no reason to begin again', async () => {
  const { chat } = await replayed(['Good morning', ' to you'], 'shared');
  expect(chat.error).toBeUndefined();
  expect(chat.text).toBe('Kept.Good morning to you');
});

test('a server that begins at the start again is no reason to show something twice', async () => {
  const { windows } = first;
  const played = open({ ...first, windows: [...windows] }, { cutsAt: [6] });
  const { turn } = played.server;
  turn.rest = () => turn.replay({});
  await played.chat.say('hi');
  expect(played.chat.error).toBeUndefined();
  expect(played.chat.text).toBe('Kept.Good morning Ann');
  expect(played.chat.messages).toHaveLength(2);
});
