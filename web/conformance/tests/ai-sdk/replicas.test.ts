/** Two people answer one question at two servers in front of one route: one answer reaches it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLongRun } from '../../src/cells.ts';
import { chunksOf } from '../../src/event-stream.ts';
import { AiSdkRoute } from '../../src/server/ai-sdk-route.ts';
import { Api } from '../../src/server/api.ts';
import { Postgres } from '../../src/server/postgres.ts';
import { Server } from '../../src/server/server.ts';
import { until } from '../../src/server/until.ts';
import { toolParts } from '../../src/tool-part.ts';
import { userMessage } from '../turn/forged.ts';

const races = Number(process.env.RACES ?? (isLongRun ? 200 : 8));

const sideBySide = 4;

let postgres: Postgres;
let route: AiSdkRoute;
let servers: [Server, Server];

beforeAll(async () => {
  [postgres, route] = await Promise.all([Postgres.start(), AiSdkRoute.start()]);
  const variables = { ADK_STREAM_CLUSTER_KEY: 'known-to-this-cluster-alone' };
  const aiSdk = route.place;
  const options = { agent: 'ai-sdk', aiSdk, store: { url: postgres.url }, variables } as const;
  const first = await Server.start(options);
  servers = [first, await Server.start({ ...options, beside: first })];
});

afterAll(async () => {
  await Promise.all((servers ?? []).map(server => server.stop()));
  await route?.stop();
  await postgres?.stop();
});

test('of two contrary answers one reaches the route', { timeout: 600_000 }, async () => {
  const [first] = servers;
  const principal = first.newPrincipal();
  const [here, there] = servers.map(
    server => new Api(() => server.url, principal, 'sse', route.place.ledger),
  ) as [Api, Api];
  const approvals = new Set<string>();
  let started = 0;
  const racer = async () => {
    while (started < races) {
      const number = started++;
      const chatId = first.newChat();
      const messages = [userMessage('m-1', 'Send $0.01 to Sam')];
      const [asked, other] = number % 2 === 0 ? [here, there] : [there, here];
      const body = await asked.ask({ id: chatId, messages, trigger: 'submit-message' });
      const request = chunksOf(await body.text()).find(
        chunk => chunk.type === 'tool-approval-request',
      );
      const approvalId = String(request?.approvalId);
      const answers = await Promise.all([
        asked.answer(approvalId, { approved: number % 3 === 0 }),
        other.answer(approvalId, { approved: number % 3 !== 0 }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const chat = await until(`${chatId} has finished`, async () => {
        const chat = await other.chat(chatId);
        return chat?.status === 'finished' && chat;
      });
      const won = answers.find(({ status }) => status === 200)?.body as { approved: boolean };
      const call = chat.messages.flatMap(toolParts)[0];
      expect(call?.state).toBe(won.approved ? 'output-available' : 'output-denied');
      if (won.approved) {
        approvals.add(call?.toolCallId ?? '');
      }
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, racer));

  const answered = route.requests.flatMap(({ messages }) =>
    messages.flatMap(toolParts).filter(part => part.state === 'approval-responded'),
  );
  expect(answered, 'each question is answered once at the route').toHaveLength(races);
  for (const chat of new Set(answered.map(part => part.toolCallId))) {
    expect(answered.filter(part => part.toolCallId === chat)).toHaveLength(1);
  }
  const { payments } = await here.wallet();
  expect(payments).toHaveLength(approvals.size);
});
