/** The pages that look at Gemini's faults: both clients, over both ways. */
import type { UIMessage } from 'ai-7';
import type { Major } from '../../src/sdk.ts';
import type { Emulator } from '../../src/server/emulator.ts';
import type { ServerOptions } from '../../src/server/server.ts';
import type { Tab, TabOptions } from '../../src/server/tab.ts';
import { type Served, serve } from '../turn/served.ts';

export type PageKind = { major: Major; transport: 'sse' | 'socket' };

export const pages: readonly PageKind[] = [
  { major: '6', transport: 'sse' },
  { major: '7', transport: 'sse' },
  { major: '6', transport: 'socket' },
  { major: '7', transport: 'socket' },
];

/** One of each client and of each way, where the fault takes its time. */
export const twoPages = pages.slice(1, 3);

export type Faulty = Served & {
  readonly emulator: Emulator;
  visit(page: PageKind, options?: Partial<Omit<TabOptions, 'server' | 'major'>>): Tab;
};

/** A server with Gemini, and the emulator behind it. */
export function serveFaulty(options: ServerOptions = {}): Faulty {
  const served = serve(options);
  return {
    get server() {
      return served.server;
    },
    get emulator() {
      return served.server.emulator;
    },
    meet: () => served.meet(),
    open: (major, tabOptions) => served.open(major, tabOptions),
    reopen: (tab, tabOptions) => served.reopen(tab, tabOptions),
    visit: ({ major, transport }, tabOptions = {}) =>
      served.open(major, { transport, ...tabOptions }),
  };
}

/** What the last message of the agent says of itself. */
export function metadataOf(tab: Tab): Record<string, unknown> {
  const last = tab.messages.findLast(message => message.role === 'assistant');
  return (last?.metadata ?? {}) as Record<string, unknown>;
}

/** The parts of a type of the last message. */
export function partsOf<T extends UIMessage['parts'][number]['type']>(tab: Tab, type: T) {
  const parts = tab.messages.at(-1)?.parts ?? [];
  return parts.filter(part => part.type === type) as Extract<
    UIMessage['parts'][number],
    { type: T }
  >[];
}
