/** Two sockets of the legacy dialect answer one question at the same time, many times. */
import { expect, test } from 'vitest';
import { isLongRun } from '../../src/cells.ts';
import { serve } from '../turn/served.ts';
import { Plain } from './plain.ts';

const served = serve();

const races = isLongRun ? 200 : 20;

const sideBySide = 8;

/**
 * What each stream of a socket said about the payment. An answer that comes when all is over gets
 * once more the outcome of its question, in a stream of its own, which may still be on its way.
 */
function outcomes({ socket }: Plain): string[] {
  const streams = socket.received.reduce<string[][]>(
    (streams, received) => {
      if ('done' in received) {
        streams.push([]);
      } else if ('chunk' in received && /^(tool-output|text-delta)/.test(received.chunk.type)) {
        const { type, output, errorText, delta } = received.chunk;
        streams
          .at(-1)
          ?.push(
            delta === undefined ? `${type} ${JSON.stringify(output)} ${errorText} ` : String(delta),
          );
      }
      return streams;
    },
    [[]],
  );
  const isOnItsWay = (streams.pop() ?? []).length > 0;
  const starts = socket.chunks.filter(({ type }) => type === 'start').length;
  expect(starts, socket.story).toBeGreaterThanOrEqual(streams.length + (isOnItsWay ? 1 : 0));
  expect(starts, socket.story).toBeLessThanOrEqual(2);
  return streams.map(stream => stream.join(''));
}

test('one answer wins, both sockets get the same, and money moves once or not at all', {
  timeout: 60_000,
}, async () => {
  const api = served.meet();
  const approved: string[] = [];
  let started = 0;
  const race = async () => {
    while (started < races) {
      const yesFirst = started++ % 2 === 0;
      const first = await Plain.open(api);
      first.say('Send $0.01 to Sam');
      const question = await first.question();
      const second = await first.again('wrapped');
      await Promise.all([
        first.answer('confirmation', question, { approved: yesFirst }),
        second.answer('call', question, { approved: !yesFirst }),
      ]);
      await Promise.all([first.end(), second.end()]);
      const [outcome, ...others] = [first, second].flatMap(outcomes);
      expect(outcome).toBeDefined();
      expect(new Set([outcome, ...others]).size, 'what both get').toBe(1);
      if (outcome?.startsWith('tool-output-available')) {
        approved.push(question.toolCallId);
      }
      await Promise.all([first.socket.close(), second.socket.close()]);
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, race));

  const { payments, balance } = await api.wallet();
  expect(payments.map(({ toolCallId }) => toolCallId).sort()).toEqual(approved.sort());
  expect(balance).toBeCloseTo(1000 - 0.01 * approved.length, 6);
  expect(await api.approvals()).toEqual([]);
});
