/** Two people answer one question at two servers at the same moment, many times: over REST, in pages, or both. */
import type { UIMessage } from 'ai-7';
import { expect } from 'vitest';
import { callIn, userMessage } from '../../tests/turn/forged.ts';
import { isLongRun } from '../cells.ts';
import { chunksOf } from '../event-stream.ts';
import { toolParts } from '../tool-part.ts';
import { Api, type Decision, type Refusal } from './api.ts';
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
        const won = await race(asked, other, first.newChat(), number);
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

/** How an answer is given: over REST, or in a chat message, as a page sends it. */
type Way = 'rest' | 'page';

/** The ways of the two answers, one race after the other. */
const ways: [Way, Way][] = [
  ['rest', 'rest'],
  ['page', 'rest'],
  ['page', 'page'],
];

/** One race: the call that was approved, if it was. */
async function race(
  asked: Api,
  other: Api,
  chatId: string,
  number: number,
): Promise<string | undefined> {
  const prompt = [userMessage('m-1', 'Send $0.01 to Sam')];
  const body = await asked.ask({ id: chatId, messages: prompt, trigger: 'submit-message' });
  const chunks = chunksOf(await body.text());
  const request = chunks.find(chunk => chunk.type === 'tool-approval-request');
  const approvalId = String(request?.approvalId);
  const messages = (await asked.chat(chatId))?.messages ?? [];
  const approves = number % 2 === 0;
  const [here, there] = ways[number % ways.length] as [Way, Way];
  const decided = await Promise.all([
    answer(asked, here, { chatId, approvalId, messages, approved: approves }),
    answer(other, there, { chatId, approvalId, messages, approved: !approves }),
  ]);
  expect(decided[0], 'both get the same decision').toBe(decided[1]);
  const chat = await until(`${chatId} has finished`, async () => {
    const chat = await other.chat(chatId);
    return chat?.status === 'finished' && chat;
  });
  const call = chat.messages.flatMap(toolParts)[0];
  expect(call?.state).toBe(decided[0] ? 'output-available' : 'output-denied');
  return decided[0] ? call?.toolCallId : undefined;
}

type Given = { chatId: string; approvalId: string; messages: UIMessage[]; approved: boolean };

/** Answers, and returns what was decided, by this answer or by the other. */
function answer(api: Api, way: Way, given: Given): Promise<boolean> {
  return way === 'rest' ? answerByRest(api, given) : answerInPage(api, given);
}

async function answerByRest(api: Api, { approvalId, approved }: Given): Promise<boolean> {
  const { status, body } = await api.answer(approvalId, { approved });
  expect([200, 409], JSON.stringify(body)).toContain(status);
  const decision = status === 200 ? (body as Decision) : (body as Refusal).decision;
  expect(decision?.approved, JSON.stringify(body)).toBe(status === 200 ? approved : !approved);
  return decision?.approved === true;
}

async function answerInPage(api: Api, given: Given): Promise<boolean> {
  const messages = structuredClone(given.messages);
  const part = callIn(messages, 'process_payment');
  part.state = 'approval-responded';
  part.approval = { id: given.approvalId, approved: given.approved };
  const response = await api.ask({
    id: given.chatId,
    messages,
    trigger: 'submit-message',
    messageId: messages.at(-1)?.id,
  });
  const body = await response.text();
  expect(response.status, body).toBe(200);
  const outputs = chunksOf(body).filter(chunk => chunk.type.startsWith('tool-output-'));
  expect(outputs, body).toHaveLength(1);
  return outputs[0]?.type === 'tool-output-available';
}
