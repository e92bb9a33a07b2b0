/** What a program can ask of the server, besides streams, as one principal. */
import type { UIMessage } from 'ai-7';
import { WebSocket } from 'ws';
import { done } from '../event-stream.ts';
import type { Json } from '../stream.ts';
import type { Transport } from './connection.ts';
import { type ReceivedFrame, refusalIn } from './frame.ts';
import { walletIn } from './ledger.ts';
import { LegacySocket } from './legacy-socket.ts';
import type { Principal } from './server.ts';

export type ChatStatus = 'running' | 'parked' | 'finished' | 'failed' | 'stopped';

export type ServedChat = {
  id: string;
  status: ChatStatus;
  messages: UIMessage[];
  /** The place in its journal up to which this is true. */
  seq: number;
  error?: { code: string; message: string; retryAfterMs?: number };
  /** Messages that wait for the open turn. */
  queued?: { whileRunning: 'queue' | 'inject'; message: UIMessage }[];
};

export type JournalEvent = { event: string; [field: string]: Json };

/** A part of a step; calls have names. */
type JournalPart = { part: string; id?: string; providerId?: string };

export type OpenApproval = {
  approvalId: string;
  chatId: string;
  toolCallId: string;
  toolName: string;
  input: Json;
  question: string;
  /** Of what is asked. */
  digest: string;
  /** Milliseconds since 1970. */
  askedAt: number;
  expiresAt?: number;
};

/** What a person says to a question. */
export type Answer = { approved: boolean; reason?: string; input?: Json };

/** The decision, as both the winner and the loser get it. */
export type Decision = Answer & { approvalId: string; decidedBy: string; decidedAt: number };

export type Payment = {
  transactionId: string;
  toolCallId: string;
  amount: number;
  recipient: string;
};

export type Wallet = { balance: number; currency: string; payments: Payment[] };

export type Refusal = { error: { code: string; message: string }; decision?: Decision };

/** In place of the status that a refusal over a socket does not have. */
const refused = 400;

export class Api {
  readonly #origin: () => string;
  readonly #principal: Principal | undefined;
  readonly #transport: Transport;
  readonly #ledger: string | undefined;
  /** The chats that it was asked about. */
  readonly #chats = new Set<string>();

  constructor(
    origin: () => string,
    principal: Principal | undefined,
    transport: Transport = 'sse',
    ledger?: string,
  ) {
    this.#origin = origin;
    this.#principal = principal;
    this.#transport = transport;
    this.#ledger = ledger;
  }

  /** As `fetch`, at this server and as this principal. */
  readonly fetch = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (this.#principal !== undefined) {
      headers.set('authorization', `Bearer ${this.#principal.key}`);
    }
    return fetch(new URL(path, this.#origin()), { ...init, headers });
  };

  /**
   * Asks the chat whatever is in the body, on the way that this one's pages take. What comes over a
   * socket is reported as it would be over HTTP; only that a refusal there has no status of its own.
   */
  ask(body: object): Promise<Response> {
    if ('id' in body) {
      this.note(String(body.id));
    }
    switch (this.#transport) {
      case 'sse':
        return this.post(body);
      case 'socket':
        return this.#send(body);
      case 'legacy':
        return this.#speak(body as { id: string; messages: unknown[] });
    }
  }

  /** Takes note of a chat. */
  note(id: string): void {
    this.#chats.add(id);
  }

  /** Posts a body to the chat, whatever is in it. */
  post(body: unknown, path = '/api/chat'): Promise<Response> {
    return this.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** The chat as the server has it, or nothing where it has none. */
  async chat(id: string): Promise<ServedChat | undefined> {
    this.note(id);
    const response = await this.fetch(`/api/chat/${encodeURIComponent(id)}`);
    return response.status === 404
      ? this.#nothing(response)
      : this.#expect<ServedChat>(response, 200);
  }

  /** What happened in a chat, as it is kept. */
  async journal(id: string): Promise<JournalEvent[]> {
    const all: JournalEvent[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const path = `/api/chat/${encodeURIComponent(id)}/journal?after=${after}`;
      const page: { entries: { events: JournalEvent[] }[]; next?: number } = await this.#expect(
        await this.fetch(path),
        200,
      );
      all.push(...page.entries.flatMap(({ events }) => events));
      after = page.next;
    }
    return all;
  }

  async approvals(): Promise<OpenApproval[]> {
    const all: OpenApproval[] = [];
    for (let query: string | undefined = 'limit=200'; query !== undefined; ) {
      const page: { approvals: OpenApproval[]; nextCursor?: string } = await this.#expect(
        await this.fetch(`/api/approvals?${query}`),
        200,
      );
      all.push(...page.approvals);
      query = page.nextCursor && `limit=200&cursor=${page.nextCursor}`;
    }
    return all;
  }

  /** Answers from anywhere; the outcome of it is for the test to judge. */
  async answer(
    approvalId: string,
    answer: Answer,
  ): Promise<{ status: number; body: Decision | Refusal }> {
    const response = await this.fetch(`/api/approvals/${encodeURIComponent(approvalId)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answer),
    });
    return { status: response.status, body: await response.json() };
  }

  /** A pass for a socket. */
  async ticket(): Promise<string> {
    const response = await this.fetch('/api/ticket', { method: 'POST' });
    return (await this.#expect<{ ticket: string }>(response, 200)).ticket;
  }

  /** Opens a socket. */
  async socket(path = '/api/chat/live'): Promise<WebSocket> {
    const url = new URL(path, this.#origin().replace(/^http/, 'ws'));
    url.searchParams.set('ticket', await this.ticket());
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return socket;
  }

  async wallet(): Promise<Wallet> {
    if (this.#ledger !== undefined) {
      return walletIn(this.#ledger, this.#principal?.name ?? 'local', await this.#callsOfAgent());
    }
    return this.#expect<Wallet>(await this.fetch('/api/wallet'), 200);
  }

  /** Stops the turn, and returns whether there was one to stop. */
  async stop(id: string): Promise<boolean> {
    const response = await this.fetch(`/api/chat/${encodeURIComponent(id)}/stop`, {
      method: 'POST',
    });
    return (await this.#expect<{ stopped: boolean }>(response, 200)).stopped;
  }

  async forget(id: string): Promise<void> {
    const response = await this.fetch(`/api/chat/${encodeURIComponent(id)}`, { method: 'DELETE' });
    await response.arrayBuffer();
    if (response.status !== 204) {
      throw new Error(`DELETE answered ${response.status}`);
    }
  }

  /** What the agent calls the calls that it ran itself, and what they are called here. */
  async #callsOfAgent(): Promise<Map<string, string>> {
    const calls = new Map<string, string>();
    for (const id of this.#chats) {
      const isThere = (await this.chat(id)) !== undefined;
      for (const event of isThere ? await this.journal(id) : []) {
        const parts = event.event === 'step-ended' ? (event.parts as JournalPart[]) : [];
        for (const { providerId, id } of parts) {
          if (providerId !== undefined && id !== undefined) {
            calls.set(providerId, id);
          }
        }
      }
    }
    return calls;
  }

  async #expect<T>(response: Response, status: number): Promise<T> {
    const text = await response.text();
    if (response.status !== status) {
      throw new Error(`${response.url} answered ${response.status}: ${text}`);
    }
    return JSON.parse(text) as T;
  }

  async #send(body: object): Promise<Response> {
    const socket = await this.socket();
    const refusal = new Promise<Response>((resolve, reject) => {
      let text = '';
      socket.on('message', data => {
        const frame = JSON.parse(String(data)) as ReceivedFrame;
        if (frame.type === 'chunk') {
          text += `data: ${JSON.stringify(frame.chunk)}\n\n`;
        } else if (frame.type === 'error') {
          resolve(Response.json(refusalIn(frame), { status: refused }));
        } else if (frame.type === 'end') {
          resolve(new Response(`${text}data: ${done}\n\n`));
        }
      });
      socket.once('close', code => reject(new Error(`the socket was closed: ${code}`)));
    });
    const envelope = { type: 'send', requestId: 'request-1', headers: {}, body: {} };
    socket.send(JSON.stringify({ ...envelope, ...body }));
    return refusal.finally(() => socket.close());
  }

  /** As a plain client of the legacy dialect, which reads a turn to its end or its next question. */
  async #speak(body: { id: string; messages: unknown[] }): Promise<Response> {
    const socket = await LegacySocket.open(this, 'flat');
    socket.send({ type: 'message', ...body });
    await socket.taken();
    const [first] = socket.chunks;
    try {
      if (first?.type === 'error') {
        const { errorText } = first as { errorText?: string };
        return Response.json(refusalIn(errorText === undefined ? {} : { errorText }), {
          status: refused,
        });
      }
      const isOver = () => socket.ends > 0 || socket.chunks.at(-1)?.type === 'finish-step';
      // An answer in which nothing was new leaves the turn as it was: it waits, and says nothing.
      const isAnswer = (body.messages.at(-1) as UIMessage).role === 'assistant';
      if (!isAnswer || (await this.chat(body.id))?.status !== 'parked') {
        await socket.until('the end of the turn or a question', isOver);
      }
      const events = socket.chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`);
      return new Response(`${events.join('')}${socket.ends > 0 ? `data: ${done}\n\n` : ''}`);
    } finally {
      await socket.close();
    }
  }

  async #nothing(response: Response): Promise<undefined> {
    await response.arrayBuffer();
  }
}
