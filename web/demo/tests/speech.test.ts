/** Speech: the browser's microphone, the real socket, Gemini Live on loopback, and the way back. */
import { expect, onTestFinished, test } from 'vitest';
import { type AudioOutput, listen } from './audio-output.ts';
import { Server } from './server.ts';
import { startServer, Visitor, WAIT_MS, withBrowser } from './visitor.ts';

withBrowser();

interface Frame {
  type: string;
  action?: string;
  chunk?: string;
  messages?: { parts: { type: string }[] }[];
}

/** Holds the button until so much was said since. */
async function talks({ page }: Visitor, sent: Frame[], chunks = 40): Promise<void> {
  const before = sent.filter(({ type }) => type === 'audio_chunk').length;
  await page.getByRole('button', { name: 'Hold to talk' }).hover();
  await page.mouse.down();
  await page.getByRole('button', { name: 'Listening: release to send' }).waitFor();
  await expect
    .poll(() => sent.filter(({ type }) => type === 'audio_chunk').length - before, {
      timeout: WAIT_MS,
    })
    .toBeGreaterThan(chunks);
  await page.mouse.up();
}

test.each([7, 6] as const)('somebody talks, and is answered aloud: AI SDK %i', async sdk => {
  const gemini = await Server.emulateGemini({
    utterances: ['What is the weather in Tokyo?', 'Send $20 to Sam'],
  });
  onTestFinished(() => gemini.remove());
  const server = await startServer({ sdk, agent: 'gemini-live', gemini: gemini.url });
  const visitor = await Visitor.at(server.url, { transport: 'bidi', permissions: ['microphone'] });
  const { page } = visitor;
  const audio = await listen(page);
  const sent: Frame[] = [];
  page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)) as Frame)),
  );

  await talks(visitor, sent);
  await visitor.reads('Spoken');
  // The transcript is shown as the person's, the answer as the agent's.
  await page.locator('.transcript').getByText('What is the weather in Tokyo?').waitFor();
  await audio.untilAudible();
  await visitor.seesCards('get_weather: done');
  await visitor.reads(/18°C/);
  await visitor.sawTheEnd();

  // As it was sent: the message first, then sound in the right form, and in it the browser's beep.
  expect(sent[0]?.messages?.[0]?.parts[0]?.type).toBe('data-speech');
  expect(sent[1]?.action).toBe('start');
  const chunks = sent.filter(({ type }) => type === 'audio_chunk');
  expect(chunks[0]).toMatchObject({ sampleRate: 16_000, channels: 1, bitDepth: 16 });
  const pcm = chunks.map(({ chunk = '' }) => Buffer.from(chunk, 'base64'));
  expect(new Set(pcm.map(({ length }) => length)), '50 ms each').toEqual(new Set([1_600]));
  const loudest = (sound: Buffer) =>
    Math.max(...Array.from({ length: 800 }, (_, at) => Math.abs(sound.readInt16LE(at * 2))));
  expect(Math.max(...pcm.map(loudest))).toBeGreaterThan(1_000);

  // Asked for aloud, approved by hand.
  await talks(visitor, sent);
  await visitor.seesCards('process_payment: asked');
  await visitor.sawTheEnd();
  await visitor.approves();
  await visitor.seesCards('process_payment: done');
  await visitor.reads(/I sent \$20 to Sam/);
  await visitor.sees('$980');
  expect(visitor.complaints).toEqual([]);
});

/**
 * A person to whom the agent speaks for long, and who counts its audio. `paceMs` is the pause between two
 * pieces of it: without one, the answer comes faster than it is spoken.
 */
async function listener(
  paceMs = 0,
): Promise<{ visitor: Visitor; audio: AudioOutput; sounds: () => number }> {
  const gemini = await Server.emulateGemini(
    { utterances: ['Take your time', 'What is the weather in Tokyo?'] },
    ['--pace', String(paceMs)],
  );
  onTestFinished(() => gemini.remove());
  const server = await startServer({ agent: 'gemini-live', gemini: gemini.url });
  const visitor = await Visitor.at(server.url, { transport: 'bidi', permissions: ['microphone'] });
  const audio = await listen(visitor.page);
  const sent: Frame[] = [];
  let sounds = 0;
  visitor.page.on('websocket', socket => {
    socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)) as Frame));
    socket.on('framereceived', ({ payload }) => {
      sounds += Number(String(payload).includes('data-pcm'));
    });
  });
  await talks(visitor, sent);
  await audio.untilAudible();
  return { visitor, audio, sounds: () => sounds };
}

test('speech interrupts the agent', async () => {
  // Most of the answer is still to come when the button is pressed: 200 words, a tenth of a second each.
  const { visitor, audio, sounds } = await listener(5);
  const { page } = visitor;
  // The second time, the microphone takes as long to open as the test likes.
  await page.evaluate(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    const mayOpen = new Promise<void>(resolve => Object.assign(window, { letOpen: resolve }));
    mediaDevices.getUserMedia = async constraints => {
      await mayOpen;
      return open(constraints);
    };
  });
  await page.getByRole('button', { name: 'Hold to talk' }).hover();
  await page.mouse.down();
  await page.getByRole('button', { name: 'Listening: release to send' }).waitFor();
  // The button silences the voice at once, before anything is said, while more of it comes.
  const before = sounds();
  await expect.poll(() => sounds() - before, { timeout: WAIT_MS }).toBeGreaterThan(40);
  await audio.untilSilent();
  await page.evaluate('letOpen()');
  await page.mouse.up();
});

test('an answer that is stopped plays no more', async () => {
  const { visitor, audio, sounds } = await listener();
  // Enough has come to play on for longer than the analyser waits.
  await expect.poll(sounds, { timeout: WAIT_MS }).toBeGreaterThan(80);
  await visitor.page.getByRole('button', { name: 'Stop' }).click();
  await audio.untilSilent();
});

test('a voice can be stopped after its answer has ended', async () => {
  const { visitor, audio } = await listener();
  // The answer comes faster than it is spoken.
  await visitor.sawTheEnd();
  await visitor.page.getByRole('button', { name: 'Stop' }).click();
  await audio.untilSilent();
});

test('where the agent takes no audio, there is no microphone button', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { transport: 'bidi' });
  await visitor.sees('$1,000');
  expect(await visitor.page.getByRole('button', { name: 'Hold to talk' }).count()).toBe(0);
});
