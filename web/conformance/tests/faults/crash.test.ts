/** Servers that are killed again and again while people pay in real pages. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isLongRun } from '../../src/cells.ts';
import { majors } from '../../src/sdk.ts';
import { Balancer } from '../../src/server/balancer.ts';
import { Postgres } from '../../src/server/postgres.ts';
import { Server } from '../../src/server/server.ts';
import { Payer } from './payer.ts';
import { sum, tell } from './tally.ts';

const kills = Number(process.env.CRASHES ?? (isLongRun ? 200 : 40));
const timeout = 60_000 + kills * 2_500;

/** Kills one server after the other, each at another moment, while people pay. */
async function payThroughKills(
  what: string,
  servers: readonly [Server, ...Server[]],
  place: { url: string },
): Promise<void> {
  const [server] = servers;
  const payers = majors.flatMap(major =>
    (['sse', 'socket'] as const).map(transport => {
      const principal = server.newPrincipal();
      return new Payer({ server, place, principal, major, transport });
    }),
  );
  let isOver = false;
  const paying = payers.map(payer => payer.payUntil(() => isOver));
  for (let kill = 0; kill < kills; kill++) {
    await pause((kill * 37) % 250);
    await servers[kill % servers.length]?.crash();
  }
  isOver = true;
  await Promise.all(paying);
  const tally = sum(await Promise.all(payers.map(payer => payer.settle())));
  tell(`${kills} kills ${what}`, tally);
  expect(tally.paid).toBeGreaterThan(0);
  expect(tally.denied).toBeGreaterThan(0);
  expect(tally.reloads).toBeGreaterThan(0);
}

test(`${kills} kills, over a file`, { timeout }, async () => {
  const server = await Server.start({ store: 'sqlite', pace: 2 });
  await payThroughKills('over a file', [server], server);
  await server.stop();
});

test(`${kills} kills of three servers behind a load balancer, over PostgreSQL`, {
  timeout,
}, async () => {
  const postgres = await Postgres.start();
  const variables = {
    ADK_STREAM_CLUSTER_KEY: 'known-to-this-cluster-alone',
    ADK_STREAM_LEASE: '1',
  };
  const options = { store: { url: postgres.url }, pace: 2, variables };
  const servers: [Server, ...Server[]] = [
    await Server.start(options),
    await Server.start(options),
    await Server.start(options),
  ];
  const balancer = await Balancer.start(servers);
  await payThroughKills('of three servers', servers, balancer);
  balancer.stop();
  await Promise.all(servers.map(server => server.stop()));
  await postgres.stop();
});
