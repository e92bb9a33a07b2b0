/** Plays a flow to its end, over a connection with faults. */
import { vi } from 'vitest';
import { clientTools } from '../../src/client-tools.ts';
import { sendAutomaticallyWhen } from '../../src/send-automatically.ts';
import { AdkStreamChatTransport } from '../../src/transport.ts';
import type { AdkStreamChatTransportOptions } from '../../src/transport-options.ts';
import { FakeServer, type Fault } from './fake-server.ts';
import { FakeTurn } from './fake-turn.ts';
import type { Flow } from './flows.ts';
import { MemoryChat } from './memory-chat.ts';

export type Played = {
  chat: MemoryChat;
  server: FakeServer;
  transport: AdkStreamChatTransport;
  /** How often the page ran a tool. */
  runs: number;
};

/** Short timeouts, so that a test need not wait. */
export const atOnce = { minDelayMs: 1, maxDelayMs: 2 };

let turns = 0;

export function open(
  flow: Flow,
  fault: Fault = {},
  options: AdkStreamChatTransportOptions = {},
): Played {
  // A name of its own: what sends by itself remembers messages by their ids.
  const server = new FakeServer(new FakeTurn(`message-${++turns}`, [...flow.windows]), fault);
  const transport = new AdkStreamChatTransport({
    api: 'http://fake/api/chat',
    webSocket: server.WebSocket,
    fetch: server.fetch,
    reconnect: atOnce,
    ...options,
  });
  const run = vi.fn((input: unknown) => ({ ran: input }));
  const tools = clientTools({ change_bgm: run, get_location: run });
  const chat = new MemoryChat({
    id: 'chat',
    transport,
    sendAutomaticallyWhen,
    onToolCall: tools.onToolCall,
  });
  tools.bind(chat);
  return {
    chat,
    server,
    transport,
    get runs() {
      return run.mock.calls.length;
    },
  };
}

export async function play(
  flow: Flow,
  fault: Fault = {},
  options: AdkStreamChatTransportOptions = {},
): Promise<Played> {
  const played = open(flow, fault, options);
  await played.chat.say('hi');
  for (const act of flow.acts) {
    act(played.chat);
    await played.chat.idle();
  }
  return played;
}

/** What the chat shows, with the turn's message under one name; ids of blocks are nobody's concern. */
export function shown({ chat }: Played): unknown {
  const text = JSON.stringify(chat.shown, (key, value) =>
    key !== '' && value?.type === 'reasoning' ? { ...value, id: undefined } : value,
  );
  return JSON.parse(text.replaceAll(/message-\d+/g, 'message'));
}
