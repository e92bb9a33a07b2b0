/** The emulator of Gemini behind the server, which a test scripts. */
import type { Json } from '../stream.ts';
import { until } from './until.ts';

/** A rule of a script, as docs/emulator.md describes it. */
export type Rule = { on?: 'generate' | 'connect' | 'answer'; [key: string]: unknown };

/** What is done at once to every live socket that is open. */
export type LiveAct =
  | { goAway: { timeLeftSeconds: number; closeAfterMs?: number } }
  | { close: { code: number; reason?: string } }
  | { cut: object }
  | { interrupt: object }
  | { cancelCalls: object };

export type Stats = {
  requests: number;
  streamsOpen: number;
  streamsTotal: number;
  socketsOpen: number;
  socketsTotal: number;
};

/** One thing that happened; which fields it has, its kind says. */
export type LogEntry = {
  seq: number;
  exchange: number;
  kind: 'request' | 'answer' | 'chunk' | 'ended' | 'opened' | 'received' | 'sent' | 'closed';
  status?: number;
  cut?: boolean;
  code?: number;
  body?: { contents?: Content[]; [key: string]: unknown };
  data?: Frame;
};

/** A frame of Live, as far as the tests look into it. */
export type Frame = {
  setup?: { sessionResumption?: { handle?: string } };
  clientContent?: { turns: Content[] };
  toolResponse?: { functionResponses: FunctionResponse[] };
  toolCall?: { functionCalls: { id: string; name: string }[] };
  toolCallCancellation?: { ids: string[] };
  goAway?: object;
  candidates?: { content?: Content }[];
  [key: string]: unknown;
};

export type FunctionResponse = {
  id: string;
  name: string;
  response: { [key: string]: Json };
  willContinue?: boolean;
  scheduling?: string;
};

export type Content = { role?: string; parts: { [key: string]: Json }[] };

export class Emulator {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Follows these rules from now on, and no others; forgets what it was asked. */
  async follow(rules: Rule[], utterances: string[] = []): Promise<void> {
    await this.#ask('PUT', '/emulator/script', { rules, utterances });
    await this.#ask('DELETE', '/emulator/log');
  }

  /** The same, with no live socket of an earlier conversation left. */
  async begin(rules: Rule[], utterances: string[] = []): Promise<void> {
    await this.act({ cut: {} });
    await this.closed();
    await this.follow(rules, utterances);
  }

  /** What it was asked, and what it answered. */
  async log(): Promise<LogEntry[]> {
    const { entries } = (await this.#ask('GET', '/emulator/log')) as { entries: LogEntry[] };
    return entries;
  }

  /** The bodies that it was asked with, in their order. */
  async requests(): Promise<NonNullable<LogEntry['body']>[]> {
    return (await this.log()).flatMap(({ kind, body }) =>
      kind === 'request' && body !== undefined ? [body] : [],
    );
  }

  /** The frames that it received or sent, in their order. */
  async frames(kind: 'received' | 'sent'): Promise<Frame[]> {
    return (await this.log()).flatMap(entry =>
      entry.kind === kind && entry.data !== undefined ? [entry.data] : [],
    );
  }

  async stats(): Promise<Stats> {
    return (await this.#ask('GET', '/emulator/stats')) as Stats;
  }

  /** Does something to the live sockets that are open, and says to how many. */
  async act(act: LiveAct): Promise<number> {
    return ((await this.#ask('POST', '/emulator/live', act)) as { sockets: number }).sockets;
  }

  /** Waits until nothing is open any more. */
  closed(): Promise<Stats> {
    return until('nothing is open upstream', async () => {
      const stats = await this.stats();
      return stats.socketsOpen === 0 && stats.streamsOpen === 0 && stats;
    });
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    }
    return text === '' ? undefined : JSON.parse(text);
  }
}
