/** Conversations, as the server sends them and as a person and a page answer. */
import type { Chunk } from '../../src/chunk.ts';
import type { MemoryChat } from './memory-chat.ts';

export type Flow = {
  name: string;
  windows: Chunk[][];
  /** What the person does, one after the other, when nothing happens any more. */
  acts: ((chat: MemoryChat) => void)[];
  /** How often the page runs a tool. */
  runs: number;
  outline: string[];
};

const step = (...chunks: Chunk[]): Chunk[] => [
  { type: 'start-step' },
  ...chunks,
  { type: 'finish-step' },
];

const block = (kind: 'text' | 'reasoning', id: string, ...words: string[]): Chunk[] => [
  { type: `${kind}-start`, id },
  ...words.map(delta => ({ type: `${kind}-delta`, id, delta })),
  { type: `${kind}-end`, id },
];

const start = (toolCallId: string, toolName: string): Chunk => ({
  type: 'tool-input-start',
  toolCallId,
  toolName,
});

const available = (toolCallId: string, toolName: string, input: unknown): Chunk => ({
  type: 'tool-input-available',
  toolCallId,
  toolName,
  input,
});

const held = (toolCallId: string, input: unknown): Chunk => ({
  type: 'tool-input-delta',
  toolCallId,
  inputTextDelta: JSON.stringify(input),
});

const ask = (toolCallId: string, approvalId: string): Chunk => ({
  type: 'tool-approval-request',
  toolCallId,
  approvalId,
});

const output = (toolCallId: string, value: unknown, preliminary?: true): Chunk => ({
  type: 'tool-output-available',
  toolCallId,
  output: value,
  ...(preliminary && { preliminary }),
});

const approve = (chat: MemoryChat) => chat.give(true);
const deny = (chat: MemoryChat) => chat.give(false, 'too much');

const bye = step(...block('text', '9', 'All', ' is', ' done.'));

export const flows: Flow[] = [
  {
    name: 'text, sources and data in two steps',
    windows: [
      [
        ...step(
          ...block('reasoning', '1', 'The', ' user', ' asks.'),
          ...block('text', '2', 'One', ' two', ' three'),
          { type: 'source-url', sourceId: 'source-1', url: 'https://example.com/a', title: 'A' },
          { type: 'data-weather', data: { sky: 'clear' } },
          ...block('text', '3', 'One', ' four'),
          start('a', 'get_weather'),
          available('a', 'get_weather', { city: 'Oslo' }),
        ),
        output('a', { sky: 'clear' }),
        ...step(...block('text', '4', 'One', ' five'), {
          type: 'file',
          url: 'https://example.com/f.png',
          mediaType: 'image/png',
        }),
      ],
    ],
    acts: [],
    runs: 0,
    outline: ['get_weather: output-available'],
  },
  {
    name: 'a payment that is approved',
    windows: [
      step(
        ...block('reasoning', '1', 'A', ' payment.'),
        start('a', 'process_payment'),
        available('a', 'process_payment', { amount: 20 }),
        ask('a', 'gate-1'),
      ),
      [output('a', { paid: true }), ...bye],
    ],
    acts: [approve],
    runs: 0,
    outline: ['process_payment: output-available'],
  },
  {
    name: 'a payment that is denied',
    windows: [
      step(
        start('a', 'process_payment'),
        available('a', 'process_payment', { amount: 20 }),
        ask('a', 'gate-1'),
      ),
      [{ type: 'tool-output-denied', toolCallId: 'a' }, ...bye],
    ],
    acts: [deny],
    runs: 0,
    outline: ['process_payment: output-denied'],
  },
  {
    name: 'a tool of the page',
    windows: [
      step(
        ...block('text', '1', 'Let', ' me.'),
        start('a', 'change_bgm'),
        available('a', 'change_bgm', { track: 2 }),
      ),
      [output('a', { ran: { track: 2 } }), ...bye],
    ],
    acts: [],
    runs: 1,
    outline: ['change_bgm: output-available'],
  },
  {
    name: 'a tool of the page behind an approval',
    windows: [
      step(start('a', 'get_location'), held('a', { exact: true }), ask('a', 'gate-1')),
      [available('a', 'get_location', { exact: true })],
      [output('a', { ran: { exact: true } }), ...bye],
    ],
    acts: [approve],
    runs: 1,
    outline: ['get_location: output-available'],
  },
  {
    name: 'a payment and a tool of the page, both approved',
    windows: [
      step(
        start('a', 'process_payment'),
        available('a', 'process_payment', { amount: 5 }),
        ask('a', 'gate-1'),
        start('b', 'get_location'),
        held('b', {}),
        ask('b', 'gate-2'),
      ),
      [output('a', { paid: true }), available('b', 'get_location', {})],
      [output('b', { ran: {} }), ...bye],
    ],
    acts: [approve],
    runs: 1,
    outline: ['process_payment: output-available', 'get_location: output-available'],
  },
  {
    name: 'a tool that shows its progress and asks twice',
    windows: [
      step(
        start('a', 'book_flight'),
        available('a', 'book_flight', { to: 'Oslo' }),
        output('a', { at: 'looking' }, true),
        ask('a', 'gate-1'),
      ),
      [output('a', { at: 'found' }, true), output('a', { at: 'held' }, true), ask('a', 'gate-2')],
      [output('a', { booked: true }), ...bye],
    ],
    acts: [approve, approve],
    runs: 0,
    outline: ['book_flight: output-available'],
  },
];

export function flowNamed(name: string): Flow {
  const found = flows.find(flow => flow.name === name);
  if (found === undefined) {
    throw new Error(`there is no flow ${name}`);
  }
  return found;
}

/** The simplest one. */
export const plainText = flowNamed('text, sources and data in two steps');
