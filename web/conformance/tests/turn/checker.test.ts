/** The checker that judges every other test here can find fault. */
import { expect, test } from 'vitest';
import { eventStream } from '../../src/event-stream.ts';
import { majors } from '../../src/sdk.ts';
import { check } from '../../src/server/checker.ts';
import type { ScriptLine } from '../../src/server/script.ts';
import type { Chunk } from '../../src/stream.ts';

const asked: Chunk[] = [
  { type: 'start', messageId: 'm1' },
  { type: 'start-step' },
  { type: 'tool-input-start', toolCallId: 'c1', toolName: 'pay' },
  { type: 'tool-input-available', toolCallId: 'c1', toolName: 'pay', input: {} },
  { type: 'tool-approval-request', toolCallId: 'c1', approvalId: 'a1' },
  { type: 'finish-step' },
  { type: 'finish' },
];

const finished: Chunk[] = [
  { type: 'start', messageId: 'm1' },
  { type: 'tool-output-available', toolCallId: 'c1', output: {} },
  { type: 'start-step' },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'Paid.' },
  { type: 'text-end', id: 't1' },
  { type: 'finish-step' },
  { type: 'finish' },
];

const opening: ScriptLine[] = [
  { say: 'pay' },
  { window: eventStream({ chunks: asked }) },
  { answer: { approvalId: 'a1', approved: true } },
];

async function kinds(sdk: '6' | '7', ...scripts: ScriptLine[][]): Promise<string[][]> {
  const checks = await check(
    scripts.map(script => ({ sdk, profile: 'shared', clientTools: [], script })),
  );
  return checks.map(({ findings }) => findings.map(({ kind }) => kind));
}

test.each(majors)('on version %s', async major => {
  const good = eventStream({ chunks: finished });
  // Neither an output nor a step: the client asks for ever.
  const loop = eventStream({ chunks: [{ type: 'start', messageId: 'm1' }, { type: 'finish' }] });
  const stranger = good.replace('"c1"', '"c2"');
  expect(
    await kinds(
      major,
      [...opening, { window: good }],
      [...opening, { window: loop }],
      [...opening, { window: stranger }],
    ),
  ).toEqual([[], ['loops'], ['throws']]);
});
