/**
 * Speech, the page's half: what it sends while somebody talks, and what it plays and shows of what
 * comes back. No agent of this version hears, so that one stands in for it behind the real socket's
 * frames; everything in the page is real, the microphone of the browser included.
 */
import type { Page, WebSocketRoute } from 'playwright-core';
import { expect, test } from 'vitest';
import { listen } from './ears.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

interface Frame {
  type: string;
  requestId?: string;
  action?: string;
  chunk?: string;
  sampleRate?: number;
  messages?: { parts: { type: string }[] }[];
}

/** Half a second of a tone, as the server sends sound. */
function tone(hertz: number): string {
  const samples = Buffer.alloc(24_000);
  for (let at = 0; at < 12_000; at++) {
    const value = Math.round(Math.sin((2 * Math.PI * hertz * at) / 24_000) * 12_000);
    samples.writeInt16LE(value, at * 2);
  }
  return samples.toString('base64');
}

/** An agent that hears: it answers with what it heard, aloud, when the person has ended. */
class HearingAgent {
  readonly frames: Frame[] = [];
  #requestId = '';
  #sequence = 0;
  #socket: WebSocketRoute | undefined;

  async sitBehind(page: Page): Promise<void> {
    await page.route('**/api/info', async route => {
      const response = await route.fetch();
      await route.fulfill({ json: { ...(await response.json()), hears: true } });
    });
    await page.routeWebSocket('**/api/chat/live', socket => {
      this.#socket = socket;
      socket.onMessage(data => this.#hear(JSON.parse(String(data)) as Frame));
    });
  }

  #hear(frame: Frame): void {
    this.frames.push(frame);
    if (frame.type === 'send') {
      this.#requestId = frame.requestId ?? '';
      this.#sequence = 0;
      this.#socket?.send(JSON.stringify({ type: 'start', requestId: this.#requestId }));
      this.#say({ type: 'start', messageId: 'spoken' }, { type: 'start-step' });
    } else if (frame.action === 'stop') {
      const heard = { providerMetadata: { adkStream: { transcript: 'input' } } };
      const pcm = { sampleRate: 24_000, channels: 1, bitDepth: 16 };
      this.#say(
        { type: 'text-start', id: '1', ...heard },
        { type: 'text-delta', id: '1', delta: 'What time is it?' },
        { type: 'text-end', id: '1' },
        { type: 'text-start', id: '2' },
        { type: 'text-delta', id: '2', delta: 'It is noon.' },
        { type: 'text-end', id: '2' },
      );
      for (let count = 0; count < 20; count++) {
        this.#say({ type: 'data-pcm', data: { content: tone(880), ...pcm }, transient: true });
      }
    }
  }

  interrupt(): void {
    this.#say({ type: 'data-interrupted', data: null, transient: true });
  }

  end(): void {
    this.#say({ type: 'finish-step' }, { type: 'finish' });
    this.#socket?.send(JSON.stringify({ type: 'end', requestId: this.#requestId }));
  }

  #say(...chunks: object[]): void {
    for (const chunk of chunks) {
      const requestId = this.#requestId;
      const sequence = this.#sequence++;
      this.#socket?.send(JSON.stringify({ type: 'chunk', requestId, sequence, chunk }));
    }
  }
}

test('somebody talks, is heard, and is answered aloud', async () => {
  const server = await startServer();
  const visitor = await Visitor.at('about:blank', {
    transport: 'bidi',
    permissions: ['microphone'],
  });
  const { page } = visitor;
  const agent = new HearingAgent();
  await agent.sitBehind(page);
  await page.goto(server.url);
  const ears = await listen(page);
  const sent = (type: string) => agent.frames.filter(frame => frame.type === type);

  await page.getByRole('button', { name: 'Hold to talk' }).hover();
  await page.mouse.down();
  await page.getByRole('button', { name: 'Listening: let go to send' }).waitFor();
  await expect.poll(() => sent('audio_chunk').length, { timeout: 15_000 }).toBeGreaterThan(10);
  await page.mouse.up();

  await visitor.reads('Spoken');
  await visitor.reads('What time is it?');
  await visitor.reads('It is noon.');
  // The browser's microphone beeps: among what was sent there is sound, in the right form.
  expect(sent('send')[0]?.messages?.[0]?.parts[0]?.type).toBe('data-speech');
  expect(agent.frames.findIndex(frame => frame.action === 'start')).toBe(1);
  const chunks = sent('audio_chunk');
  expect(chunks[0]).toMatchObject({ sampleRate: 16_000, channels: 1, bitDepth: 16 });
  const sizes = chunks.map(({ chunk = '' }) => Buffer.from(chunk, 'base64').length);
  expect(new Set(sizes), '50 ms each').toEqual(new Set([1_600]));
  const loudest = chunks.map(({ chunk = '' }) => {
    const pcm = Buffer.from(chunk, 'base64');
    return Math.max(...Array.from({ length: 800 }, (_, at) => Math.abs(pcm.readInt16LE(at * 2))));
  });
  expect(Math.max(...loudest)).toBeGreaterThan(1_000);

  // Ten seconds of a tone, until somebody falls in.
  await ears.hear(880);
  agent.interrupt();
  await ears.hearNothing();
  agent.end();
  await visitor.sawTheEnd();
});

test('where the agent does not hear, there is no button to talk', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { transport: 'bidi' });
  await visitor.sees('$1,000');
  expect(await visitor.page.getByRole('button', { name: 'Hold to talk' }).count()).toBe(0);
});
