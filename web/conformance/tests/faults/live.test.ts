/** A live session belongs to one server, and moves to another when that one leaves. */
import type { UIMessage } from 'ai-7';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Major, majors } from '../../src/sdk.ts';
import { Api } from '../../src/server/api.ts';
import { Postgres } from '../../src/server/postgres.ts';
import { Server, type ServerOptions } from '../../src/server/server.ts';
import { Tab } from '../../src/server/tab.ts';
import { resumable } from '../gemini-live/noted.ts';

let postgres: Postgres;
let first: Server;
let second: Server;

const options = (): ServerOptions => ({
  agent: 'gemini-live',
  store: { url: postgres.url },
  variables: { ADK_STREAM_CLUSTER_KEY: 'known-to-this-cluster-alone' },
});

beforeAll(async () => {
  postgres = await Postgres.start();
  first = await Server.start(options());
  second = await Server.start({ ...options(), beside: first });
}, 60_000);

afterAll(async () => {
  await second?.stop();
  await first?.stop();
  await postgres?.stop();
}, 60_000);

/** With which handles sessions were opened since the emulator's script was last set. */
async function handles(): Promise<boolean[]> {
  const frames = await first.emulator.frames('received');
  return frames.flatMap(({ setup }) =>
    setup === undefined ? [] : [setup.sessionResumption?.handle !== undefined],
  );
}

/** A person's tab at a server; at another server, with what that one has of the chat. */
function person(major: Major) {
  const principal = first.newPrincipal();
  const open = (server: Server, messages?: UIMessage[]) =>
    new Tab({
      server,
      major,
      transport: 'socket',
      api: new Api(() => server.url, principal, 'socket'),
      id: `chat-of-${principal?.name}`,
      ...(messages && { messages }),
    });
  const reload = async (server: Server) => {
    const tab = open(server);
    return open(server, (await tab.api.chat(tab.id))?.messages);
  };
  return { open, reload };
}

test.each(majors)('between two turns, by its handle, on version %s', async major => {
  await first.emulator.begin([]);
  const { open, reload } = person(major);
  const tab = open(first);
  await tab.say('Hello');
  await resumable(tab);
  await first.restart();

  const other = await reload(second);
  await other.say('Good morning to you');
  expect(other.page.error).toBeUndefined();
  expect(other.text).toMatch(/Good morning to you/);
  expect(await handles()).toEqual([false, true]);
});

test.each(majors)('with a question open, on version %s', async major => {
  await first.emulator.begin([]);
  const { open, reload } = person(major);
  const tab = open(first);
  await tab.say('Send $20 to Sam');
  expect(tab.call('process_payment').state).toBe('approval-requested');
  await first.restart();

  const other = await reload(second);
  await other.approve(other.call('process_payment'));
  expect(other.call('process_payment').state).toBe('output-available');
  expect(other.text).toMatch(/Sam/);
  expect((await other.api.wallet()).payments).toHaveLength(1);
});
