/** Two people answer one question at two servers at the same moment, many times. */
import { expect } from 'vitest';
import { userMessage } from '../../tests/turn/forged.ts';
import { isLongRun } from '../cells.ts';
import { chunksOf } from '../event-stream.ts';
import { toolParts } from '../tool-part.ts';
import { Api } from './api.ts';
import { Postgres } from './postgres.ts';
import { Server, type ServerOptions } from './server.ts';
import { until } from './until.ts';

export const races = Number(process.env.RACES ?? (isLongRun ? 200 : 8));

const sideBySide = 4;

/** Two servers on one database, in front of one agent. */
export class Replicas {
  readonly #postgres: Postgres;
  readonly #servers: [Server, Server];

  private constructor(postgres: Postgres, servers: [Server, Server]) {
    this.#postgres = postgres;
    this.#servers = servers;
  }

  static async start(options: ServerOptions): Promise<Replicas> {
    const postgres = await Postgres.start();
    const variables = { ADK_STREAM_CLUSTER_KEY: 'known-to-this-cluster-alone' };
    const shared = { ...options, store: { url: postgres.url }, variables };
    const first = await Server.start(shared);
    return new Replicas(postgres, [first, await Server.start({ ...shared, beside: first })]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map(server => server.stop()));
    await this.#postgres.stop();
  }

  /** Races, each of two contrary answers. Every chat ends as the one that won says, and pays so. */
  async race(ledger: string): Promise<void> {
    const [first] = this.#servers;
    const principal = first.newPrincipal();
    const [here, there] = this.#servers.map(
      server => new Api(() => server.url, principal, 'sse', ledger),
    ) as [Api, Api];
    const approved = new Set<string>();
    let started = 0;
    const racer = async () => {
      while (started < races) {
        const number = started++;
        const [asked, other] = number % 2 === 0 ? [here, there] : [there, here];
        const won = await race(asked, other, first.newChat(), number % 3 === 0);
        if (won !== undefined) {
          approved.add(won);
        }
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, racer));
    const { payments } = await here.wallet();
    const paid = payments.map(payment => payment.toolCallId);
    expect(paid.sort(), 'what was approved is paid, once').toEqual([...approved].sort());
    process.stdout.write(`${races} races: ${approved.size} approved, ${paid.length} paid\n`);
  }
}

/** One race: the call that was approved, if it was. */
async function race(
  asked: Api,
  other: Api,
  chatId: string,
  approves: boolean,
): Promise<string | undefined> {
  const messages = [userMessage('m-1', 'Send $0.01 to Sam')];
  const body = await asked.ask({ id: chatId, messages, trigger: 'submit-message' });
  const chunks = chunksOf(await body.text());
  const request = chunks.find(chunk => chunk.type === 'tool-approval-request');
  const approvalId = String(request?.approvalId);
  const answers = await Promise.all([
    asked.answer(approvalId, { approved: approves }),
    other.answer(approvalId, { approved: !approves }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const chat = await until(`${chatId} has finished`, async () => {
    const chat = await other.chat(chatId);
    return chat?.status === 'finished' && chat;
  });
  const won = answers.find(({ status }) => status === 200)?.body as { approved: boolean };
  const call = chat.messages.flatMap(toolParts)[0];
  expect(call?.state).toBe(won.approved ? 'output-available' : 'output-denied');
  return won.approved ? call?.toolCallId : undefined;
}
