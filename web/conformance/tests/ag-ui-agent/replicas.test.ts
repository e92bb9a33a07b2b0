/** Two people answer one question at two servers in front of one agent: one answer reaches it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgUiAgent } from '../../src/server/ag-ui-agent.ts';
import { Replicas, races } from '../../src/server/replica-races.ts';

let agent: AgUiAgent;
let replicas: Replicas;

beforeAll(async () => {
  agent = await AgUiAgent.start();
  replicas = await Replicas.start({ agent: 'ag-ui', agUi: agent.place });
});

afterAll(async () => {
  await replicas?.stop();
  await agent?.stop();
});

test('of two contrary answers one reaches the agent', { timeout: 600_000 }, async () => {
  await replicas.race(agent.place.ledger);

  const answered = agent.requests.flatMap(({ threadId, resume = [] }) =>
    resume.map(({ interruptId, status }) => {
      expect(status).toBe('resolved');
      return `${threadId} ${interruptId}`;
    }),
  );
  expect(answered, 'each question is answered at the agent').toHaveLength(races);
  expect(new Set(answered).size, 'and once').toBe(races);
});
