/** Two people answer one question at two servers in front of one route: one answer reaches it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AiSdkRoute } from '../../src/server/ai-sdk-route.ts';
import { Replicas, races } from '../../src/server/replica-races.ts';
import { toolParts } from '../../src/tool-part.ts';

let route: AiSdkRoute;
let replicas: Replicas;

beforeAll(async () => {
  route = await AiSdkRoute.start();
  replicas = await Replicas.start({ agent: 'ai-sdk', aiSdk: route.place });
});

afterAll(async () => {
  await replicas?.stop();
  await route?.stop();
});

test('of two contrary answers one reaches the route', { timeout: 600_000 }, async () => {
  await replicas.race(route.place.ledger);

  const answered = route.requests.flatMap(({ messages }) =>
    messages.flatMap(toolParts).filter(part => part.state === 'approval-responded'),
  );
  expect(answered, 'each question is answered at the route').toHaveLength(races);
  const calls = new Set(answered.map(part => part.toolCallId));
  expect(calls.size, 'and once').toBe(races);
});
