/** Somebody with a page on the real server, over a WebSocket that can be cut. */
import { type UIMessage, validateUIMessages } from 'ai';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { Api, type ChatStatus } from '../../../conformance/src/server/api.ts';
import { Server, type ServerOptions } from '../../../conformance/src/server/server.ts';
import { shown } from '../../../conformance/src/server/shown.ts';
import { until } from '../../../conformance/src/server/until.ts';
import { clientTools } from '../../src/client-tools.ts';
import { sendAutomaticallyWhen } from '../../src/send-automatically.ts';
import { ticketFrom } from '../../src/ticket.ts';
import { AdkStreamChatTransport } from '../../src/transport.ts';
import type { AdkStreamChatTransportOptions } from '../../src/transport-options.ts';
import { MemoryChat } from '../support/memory-chat.ts';
import { FrameCounter } from './frame-counter.ts';
import { Network } from './network.ts';

export const place = { latitude: 59.91, longitude: 10.75, city: 'Oslo' };

export class Visitor {
  readonly api: Api;
  readonly headers: Record<string, string>;
  readonly frames = new FrameCounter();
  readonly transport: AdkStreamChatTransport;
  readonly network: Network;
  /** The calls that the page ran. */
  readonly ran = vi.fn((_tool: string, _input: unknown) => undefined);

  private constructor(server: Server, network: Network, options: AdkStreamChatTransportOptions) {
    const principal = server.newPrincipal();
    this.network = network;
    this.api = new Api(() => server.url, principal);
    this.headers = { authorization: `Bearer ${principal?.key}` };
    this.transport = new AdkStreamChatTransport({
      api: `${network.url}/api/chat`,
      headers: this.headers,
      ticket: ticketFrom({ api: `${network.url}/api/ticket`, headers: this.headers }),
      webSocket: this.frames.WebSocket,
      reconnect: { minDelayMs: 2, maxDelayMs: 20 },
      ...options,
    });
  }

  static async come(server: Server, options: AdkStreamChatTransportOptions = {}): Promise<Visitor> {
    return new Visitor(server, await Network.start(() => addressOf(server)), options);
  }

  async leave(): Promise<void> {
    this.transport.close();
    await this.network.stop();
  }

  chat(id: string, messages: UIMessage[] = []): MemoryChat {
    const tools = clientTools({
      change_bgm: (input: { track: number }) => {
        this.ran('change_bgm', input);
        return { success: true, ...input };
      },
      get_location: (input: unknown) => {
        this.ran('get_location', input);
        return place;
      },
    });
    const chat = new MemoryChat({
      id,
      messages,
      transport: this.transport,
      sendAutomaticallyWhen,
      onToolCall: tools.onToolCall,
    });
    tools.bind(chat);
    return chat;
  }

  /** A chat in the middle of a text that takes some seconds. */
  async listen(id: string): Promise<MemoryChat> {
    const chat = this.chat(id);
    void chat.sendMessage({ text: 'take your time' });
    await until('some words have come', () => chat.text.split(' ').length > 3);
    return chat;
  }

  /** Waits until more words have come, stops the turn, and waits until the chats know. */
  async stopAfterMore(...chats: MemoryChat[]): Promise<void> {
    const before = chats.map(chat => chat.text.length);
    await until('more words have come', () =>
      chats.every((chat, index) => chat.text.length > (before[index] ?? 0) + 20),
    );
    for (const id of new Set(chats.map(chat => chat.id))) {
      expect(await this.transport.stop(id)).toBe(true);
    }
    await Promise.all(chats.map(chat => chat.idle()));
  }

  /** How many requests of a kind were put on the wire. */
  sent(type: string): number {
    return this.frames.sent.filter(frame => frame.type === type).length;
  }

  /** Cuts the network when this many frames were delivered. */
  cutAt(...counts: number[]): void {
    this.frames.allow = count => {
      if (counts[0] === count) {
        counts.shift();
        this.network.cut();
        return false;
      }
      return true;
    };
  }

  /** The chat shows what the server has, and nothing is wrong with it. */
  async expectServed(chat: MemoryChat, status: ChatStatus = 'finished', where = ''): Promise<void> {
    expect(chat.error, where).toBeUndefined();
    expect(chat.status, where).toBe('ready');
    expect(chat.watch.sawBack, where).toBe(false);
    const served = await until(`the chat is ${status}`, async () => {
      const found = await this.api.chat(chat.id);
      return found?.status === status && found;
    });
    expect(shown(chat.messages as never), where).toEqual(shown(served.messages));
    await validateUIMessages({ messages: chat.shown });
  }
}

/** Nothing while it does not run. */
function addressOf(server: Server): string | undefined {
  try {
    return server.url;
  } catch {
    return undefined;
  }
}

/** A server for a test file. */
export function serve(options: ServerOptions = {}): () => Server {
  let server: Server | undefined;
  beforeAll(async () => {
    server = await Server.start({ store: 'memory', ...options });
  });
  afterAll(async () => {
    await server?.stop();
  });
  return () => {
    if (server === undefined) {
      throw new Error('the server runs only while tests do');
    }
    return server;
  };
}
