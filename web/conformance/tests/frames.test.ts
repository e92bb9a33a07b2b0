/** Our WebSocket frames are those of the official transport, in both directions. */
import { safeValidateWebSocketChatTransportRequest } from 'ai-7';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Kind, play, type ServerFrame } from '../src/frame-player.ts';
import { specimens } from '../src/specimens.ts';

type Specimen =
  | { direction: 'client'; frame: { type: string } }
  | { direction: 'server'; frame: ServerFrame };

describe('a player of frames', () => {
  test('sees a frame of an unknown type take the other request down', async () => {
    const frames = [{ type: 'pong', requestId: 'r1' }];
    expect((await play(frames, 'send')).bystanderError).toMatch(/pong/);
  });

  test('sees a gap take the other request down', async () => {
    const frames = [{ type: 'chunk', requestId: 'r1', sequence: 1, chunk: { type: 'start' } }];
    expect((await play(frames, 'resume')).bystanderError).toMatch(/sequence/);
  });
});

describe('frames of our own', () => {
  let frames: Specimen[];

  beforeAll(() => {
    frames = specimens<Specimen>('frames');
  });

  test('from the client are accepted by the official check', async () => {
    for (const { frame } of frames.filter(({ direction }) => direction === 'client')) {
      const result = await safeValidateWebSocketChatTransportRequest({ value: frame });
      expect(result.success, JSON.stringify(frame)).toBe(true);
    }
  });

  test('from the client are of every type', () => {
    expect(typesOf('client')).toEqual(['abort', 'resume', 'send']);
  });

  test('from the server are of every type', () => {
    expect(typesOf('server')).toEqual(['chunk', 'end', 'error', 'no-active', 'start']);
  });

  test.each(['send', 'resume'] satisfies Kind[])(
    'from the server are understood as answers to a %s',
    async kind => {
      for (const request of requests()) {
        const playback = await play(request, kind);
        const label = JSON.stringify(request);
        expect(playback.bystanderError, label).toBeUndefined();
        const failure = request.find(frame => frame.type === 'error');
        if (failure === undefined) {
          expect(playback.error, label).toBeUndefined();
          expect(playback.chunks, label).toEqual(
            request.flatMap(frame => (frame.type === 'chunk' ? [frame.chunk] : [])),
          );
        } else {
          expect(playback.error, label).toBe(
            failure.errorText ?? 'WebSocket chat server returned an error.',
          );
        }
        if (kind === 'resume') {
          expect(playback.nothingToResume, label).toBe(
            request.some(frame => frame.type === 'no-active'),
          );
        }
      }
    },
  );

  function typesOf(direction: Specimen['direction']): string[] {
    const types = frames
      .filter(specimen => specimen.direction === direction)
      .map(({ frame }) => frame.type);
    return [...new Set(types)].sort();
  }

  /** The frames by request. One that ended, or whose chunks are counted again, is another. */
  function requests(): ServerFrame[][] {
    const all: ServerFrame[][] = [];
    for (const specimen of frames) {
      if (specimen.direction === 'server') {
        const request = all.at(-1);
        if (request === undefined || isOver(request, specimen.frame)) {
          all.push([specimen.frame]);
        } else {
          request.push(specimen.frame);
        }
      }
    }
    return all;
  }
});

function isOver(request: ServerFrame[], next: ServerFrame): boolean {
  const last = request.at(-1);
  return (
    last === undefined ||
    last.requestId !== next.requestId ||
    last.type === 'end' ||
    last.type === 'error' ||
    last.type === 'no-active' ||
    next.type === 'start' ||
    (next.sequence === 0 && last.type === 'chunk')
  );
}
