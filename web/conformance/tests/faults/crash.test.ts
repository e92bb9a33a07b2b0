/** A server that is killed again and again while people pay in real pages. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { majors } from '../../src/sdk.ts';
import { Server } from '../../src/server/server.ts';
import { Payer } from './payer.ts';
import { sum, tell } from './tally.ts';

const kills = Number(process.env.CRASHES ?? 200);

test(`${kills} kills, over a file`, { timeout: 300_000 }, async () => {
  const server = await Server.start({ store: 'sqlite', pace: 2 });
  const payers = majors.flatMap(major =>
    (['sse', 'socket'] as const).map(transport => {
      const principal = server.newPrincipal();
      return new Payer({ servers: [server], principal, major, transport });
    }),
  );
  let isOver = false;
  const paying = payers.map(payer => payer.payUntil(() => isOver));
  for (let kill = 0; kill < kills; kill++) {
    await pause((kill * 37) % 250);
    await server.crash();
  }
  isOver = true;
  await Promise.all(paying);
  const tally = sum(await Promise.all(payers.map(payer => payer.settle())));
  tell(`${kills} kills`, tally);
  expect(tally.paid).toBeGreaterThan(0);
  expect(tally.denied).toBeGreaterThan(0);
  expect(tally.reloads).toBeGreaterThan(0);
  await server.stop();
});
