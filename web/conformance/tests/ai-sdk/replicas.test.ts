/** Two people answer one question at two servers in front of one route: one answer reaches it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AiSdkRoute } from '../../src/server/ai-sdk-route.ts';
import { Replicas, races } from '../../src/server/replica-races.ts';
import { toolParts } from '../../src/tool-part.ts';

let route: AiSdkRoute;

beforeAll(async () => {
  route = await AiSdkRoute.start();
});

afterAll(async () => {
  await route?.stop();
});

test.each(['ai-sdk', 'ai-sdk-6'] as const)(
  'of two contrary answers one reaches the route of %s',
  { timeout: 600_000 },
  async agent => {
    const before = route.requests.length;
    const replicas = await Replicas.start({ agent, aiSdk: route.place });
    try {
      await replicas.race(route.place.ledger);
    } finally {
      await replicas.stop();
    }

    const answered = route.requests
      .slice(before)
      .flatMap(({ messages }) =>
        messages.flatMap(toolParts).filter(part => part.state === 'approval-responded'),
      );
    expect(answered, 'each question is answered at the route').toHaveLength(races);
    const calls = new Set(answered.map(part => part.toolCallId));
    expect(calls.size, 'and once').toBe(races);
  },
);
