/** A PostgreSQL that is restarted, frozen and cut off while people pay in real pages at two servers. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { Balancer } from '../../src/server/balancer.ts';
import { Postgres } from '../../src/server/postgres.ts';
import { Server } from '../../src/server/server.ts';
import { Payer } from './payer.ts';
import { sum, tell } from './tally.ts';

let postgres: Postgres;
let server: Server;
let servers: Server[] = [];
let balancer: Balancer;

beforeAll(async () => {
  postgres = await Postgres.start();
  const variables = { ADK_STREAM_CLUSTER_KEY: 'known-to-this-cluster-alone' };
  const options = { store: { url: postgres.url }, pace: 2, variables };
  server = await Server.start(options);
  servers = [server, await Server.start(options)];
  balancer = await Balancer.start(servers);
}, 60_000);

afterAll(async () => {
  balancer?.stop();
  await Promise.all(servers.map(server => server.stop()));
  await postgres?.stop();
}, 60_000);

/** Does something to the database while people pay, and sees that nothing is lost. */
async function payThrough(trouble: () => Promise<void>): Promise<void> {
  const payers = majors.flatMap(major =>
    (['sse', 'socket'] as const).map(transport => {
      const principal = server.newPrincipal();
      return new Payer({ server, place: balancer, principal, major, transport });
    }),
  );
  let isOver = false;
  const paying = Promise.all(payers.map(payer => payer.payUntil(() => isOver)));
  await trouble().finally(() => {
    isOver = true;
  });
  await paying;
  const tally = sum(await Promise.all(payers.map(payer => payer.settle())));
  tell(expect.getState().currentTestName ?? '', tally);
  expect(tally.paid).toBeGreaterThan(0);
  expect(tally.denied).toBeGreaterThan(0);
}

test('it is restarted', { timeout: 240_000 }, async () => {
  await payThrough(async () => {
    for (let time = 0; time < 5; time++) {
      await pause(1_000 + 130 * time);
      await postgres.restart();
    }
    await pause(1_000);
  });
});

test('its connections are killed', { timeout: 240_000 }, async () => {
  await payThrough(async () => {
    for (let time = 0; time < 20; time++) {
      await pause((time * 73) % 500);
      postgres.cut();
    }
    await pause(1_000);
  });
});

test('it is frozen for twenty seconds', { timeout: 240_000 }, async () => {
  await payThrough(async () => {
    await pause(1_000);
    await postgres.frozen(() => pause(20_000));
    await pause(2_000);
  });
});
