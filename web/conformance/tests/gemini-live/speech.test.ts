/** Speech, in both dialects and in both kinds of frames: sent, answered in audio, and kept as text. */
import type { UIMessage } from 'ai-7';
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { LegacySocket } from '../../src/server/legacy-socket.ts';
import { SocketConnection } from '../../src/server/socket-connection.ts';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { metadataOf, pages, serveFaulty } from '../gemini/pages.ts';
import { expectLastWord, expectPaid, expectSound, expectValid, outline } from '../turn/sound.ts';
import { opened, resumable } from './noted.ts';

const served = serveFaulty({ modality: 'audio' });

/** An agent that takes no audio. */
const withoutAudio = serveFaulty({ agent: 'gemini' });

const utterance = 'What is the weather in Oslo?';

/** A tenth of a second, not quiet, at 16 kHz. */
const pcm = Buffer.alloc(3200, Buffer.from([0, 16]));

const speech: UIMessage['parts'] = [{ type: 'data-speech', data: {} }];

type Frames = 'text' | 'binary';

/** Speaks into a page whose message is on its way. */
async function speak(tab: Tab, frames: Frames, pieces = 3) {
  const { connection } = tab;
  if (!(connection instanceof SocketConnection)) {
    throw new Error('one speaks on a socket');
  }
  const posts = tab.posts + 1;
  tab.send(speech);
  await until('the message is sent', () => tab.posts === posts);
  connection.sound({ type: 'audio_control', action: 'start', id: tab.id });
  for (let piece = 0; piece < pieces; piece++) {
    connection.sound(
      frames === 'binary'
        ? pcm
        : { type: 'audio_chunk', id: tab.id, chunk: pcm.toString('base64'), sampleRate: 16000 },
    );
  }
  connection.sound({ type: 'audio_control', action: 'stop', id: tab.id });
}

/** The texts of a message, each with whose words it is. */
function transcripts(message: UIMessage | undefined): [unknown, string][] {
  return (message?.parts ?? []).flatMap(part => {
    if (part.type !== 'text') {
      return [];
    }
    const ours = part.providerMetadata?.adkStream as { transcript?: string } | undefined;
    return [[ours?.transcript, part.text] as [unknown, string]];
  });
}

async function receivedAudio() {
  return (await served.emulator.frames('received')).flatMap(({ realtimeInput }) => {
    const { audio } = (realtimeInput ?? {}) as { audio?: { mimeType: string } };
    return audio === undefined ? [] : [audio.mimeType];
  });
}

type Pcm = { content: string; sampleRate: number; channels: number; bitDepth: number };

/** The sound that came is whole, and is what the message says of it. */
function expectSpoken(sound: Pcm[], metadata: Record<string, unknown>) {
  expect(sound.length).toBeGreaterThan(0);
  const bytes = sound.reduce((sum, { content }) => sum + Buffer.from(content, 'base64').length, 0);
  for (const piece of sound) {
    expect(piece).toMatchObject({ sampleRate: 24000, channels: 1, bitDepth: 16 });
  }
  expect(metadata.audio).toEqual({
    chunks: sound.length,
    bytes,
    sampleRate: 24000,
    duration: bytes / 2 / 24000,
  });
}

test.each(
  majors.flatMap(major => (['text', 'binary'] as const).map(frames => ({ major, frames }))),
)('a spoken message, on version $major in $frames frames', async ({ major, frames }) => {
  await served.emulator.begin([], ['Good morning to you']);
  const tab = served.visit({ major, transport: 'socket' });
  await speak(tab, frames);
  await tab.quiet();

  await expectSound(tab, { posts: 1 });
  expect(await receivedAudio()).toEqual(Array(3).fill('audio/pcm;rate=16000'));
  const [[input, question] = [], [said, answer] = []] = transcripts(tab.messages.at(-1));
  expect([input, said]).toEqual(['input', 'output']);
  expect(question).toBe('Good morning to you');
  expect(answer).toMatch(/Good morning to you/);
  const sound = tab.data.flatMap(({ type, data }) => (type === 'data-pcm' ? [data as Pcm] : []));
  expectSpoken(sound, metadataOf(tab));
  // Sound is in no message, neither here nor there.
  const chat = await tab.api.chat(tab.id);
  expect(JSON.stringify([tab.messages, chat?.messages])).not.toMatch(/data-pcm/);
  expect(transcripts(chat?.messages.at(-1))).toEqual(transcripts(tab.messages.at(-1)));
  await expectValid(chat?.messages ?? []);
});

test.each(majors)('a question that was spoken is asked, on version %s', async major => {
  await served.emulator.begin([], ['Send $20 to Sam']);
  const tab = served.visit({ major, transport: 'socket' });
  await speak(tab, 'binary');
  await tab.quiet();
  expect(outline(tab.messages)).toEqual([['process_payment: approval-requested']]);
  await tab.approve(tab.call('process_payment'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['process_payment: output-available']]);
  expect(tab.messages.at(-1)?.parts.at(-1)).toMatchObject({
    type: 'text',
    providerMetadata: { adkStream: { transcript: 'output' } },
  });
  await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
});

test.each(majors)(
  'what was spoken is sent as text where it must be, on version %s',
  async major => {
    await served.emulator.begin(
      [{ on: 'connect', nth: 2, refuseHandle: true }],
      ['Good morning to you'],
    );
    const tab = served.visit({ major, transport: 'socket' });
    await speak(tab, 'text');
    await tab.quiet();
    await resumable(tab);
    await served.emulator.act({ cut: {} });
    await served.emulator.closed();
    await tab.say('And in writing');

    await expectSound(tab, { posts: 2 });
    expect(await opened(tab)).toEqual(['seeded', 'seeded']);
    const sent = (await served.emulator.frames('received')).at(-1)?.clientContent?.turns;
    expect(sent).toMatchObject([
      { role: 'user', parts: [{ text: 'Good morning to you' }] },
      { role: 'model', parts: [{ text: expect.stringMatching(/Good morning/) }] },
      { role: 'user', parts: [{ text: 'And in writing' }] },
    ]);
  },
);

test.each(majors)('a session lost while it speaks aloud, on version %s', async major => {
  await served.emulator.begin([{ on: 'answer', nth: 1, cut: { after: 4 } }]);
  const tab = served.visit({ major, transport: 'socket' });
  await tab.say('Good morning to you');

  await expectSound(tab, { posts: 1 });
  expectLastWord(tab, /Good morning to you/);
  expect(transcripts(tab.messages.at(-1))).toHaveLength(1);
  // The player has to begin again.
  const kinds = tab.data.map(({ type }) => type);
  expect(kinds.filter(kind => kind === 'data-interrupted')).toHaveLength(1);
  const again = tab.data.slice(kinds.indexOf('data-interrupted') + 1);
  expectSpoken(
    again.map(({ data }) => data as Pcm),
    metadataOf(tab),
  );
});

test.each(majors)('a microphone that is opened and closed, on version %s', async major => {
  await served.emulator.begin([]);
  const tab = served.visit({ major, transport: 'socket' });
  await speak(tab, 'text', 0);
  await tab.quiet();
  expect(tab.page.error).toBeUndefined();
  expect((await tab.api.chat(tab.id))?.status).toBe('finished');
  await tab.say('Good morning to you');

  expectLastWord(tab, /Good morning to you/);
});

test.each(majors)('a stop while somebody speaks, on version %s', async major => {
  await served.emulator.begin([]);
  const tab = served.visit({ major, transport: 'socket' });
  tab.send(speech);
  await until('the message is sent', () => tab.posts === 1);
  const connection = tab.connection as SocketConnection;
  connection.sound({ type: 'audio_control', action: 'start', id: tab.id });
  connection.sound(pcm);
  await until('it is received', async () => (await receivedAudio()).length === 1);
  expect(await tab.api.stop(tab.id)).toBe(true);
  await tab.quiet();
  await tab.say('Good morning to you');

  expect(tab.page.error).toBeUndefined();
  expectLastWord(tab, /Good morning to you/);
});

test.each(
  (['flat', 'wrapped'] as const).flatMap(wrapping =>
    (['text', 'binary'] as const).map(frames => ({ wrapping, frames })),
  ),
)('in the legacy dialect, $wrapping, in $frames frames', async ({ wrapping, frames }) => {
  await served.emulator.begin([], [utterance]);
  const api = served.meet();
  const socket = await LegacySocket.open(api, wrapping);
  socket.send({ type: 'audio_control', action: 'start' });
  for (let piece = 0; piece < 3; piece++) {
    if (frames === 'binary') {
      socket.sendBytes(pcm);
    } else {
      socket.send({ type: 'audio_chunk', chunk: pcm.toString('base64') });
    }
  }
  socket.send({ type: 'audio_control', action: 'stop' });
  await socket.until('the end of the turn', () => socket.ends > 0);

  expect(await receivedAudio()).toEqual(Array(3).fill('audio/pcm;rate=16000'));
  const { chunks } = socket;
  expect(chunks.filter(({ type }) => type === 'error')).toEqual([]);
  const texts = chunks.flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : []));
  expect(texts.join('')).toContain(utterance);
  expect(chunks.some(({ type }) => type === 'tool-output-available')).toBe(true);
  const sound = chunks.filter(({ type }) => type === 'data-pcm');
  const finish = chunks.find(({ type }) => type === 'finish');
  expectSpoken(
    sound.map(({ data }) => data as Pcm),
    (finish?.messageMetadata ?? {}) as Record<string, unknown>,
  );
  expect(sound.every(({ transient }) => transient === true)).toBe(true);
  await socket.close();
});

test.each(pages)('an agent that takes no audio, on version $major over $transport', async page => {
  const tab = withoutAudio.visit(page);
  tab.send(speech);
  await tab.quiet();

  expect(tab.connection.refusals).toMatchObject([
    { body: { error: { code: 'audio_unsupported' } } },
  ]);
  expect(tab.page.error?.message).toMatch(/audio_unsupported/);
  expect(await tab.api.chat(tab.id), 'nothing was begun').toBeUndefined();
  expect((await withoutAudio.emulator.stats()).requests).toBe(0);
});

test('an agent that takes no audio, in the legacy dialect', async () => {
  const socket = await LegacySocket.open(withoutAudio.meet(), 'flat');
  socket.send({ type: 'audio_control', action: 'start' });
  socket.send({ type: 'audio_chunk', chunk: pcm.toString('base64') });
  await socket.until('a word', () => socket.chunks.length > 0);
  expect(socket.chunks[0]).toMatchObject({
    type: 'error',
    errorText: expect.stringMatching(/^audio_unsupported: /),
  });
  socket.sendBytes(pcm);
  expect(await socket.closed).toBe(1003);
});
