/** Pages on AG-UI's clients, on the server of a test file. */
import { onTestFailed } from 'vitest';
import { AgUiPage, type AgUiVersion, type PageTools } from '../../src/ag-ui-page.ts';
import type { Api, ChatStatus } from '../../src/server/api.ts';
import { until } from '../../src/server/until.ts';
import { place } from '../turn/page-tools.ts';
import type { Served } from '../turn/served.ts';

const pageTools = {
  change_bgm: (input: unknown) => ({ success: true, ...(input as object) }),
  get_location: () => place,
};

/** A page of somebody on a chat, of somebody new on a new one if nothing is said. */
export function open(
  served: Served,
  version: AgUiVersion,
  {
    api = served.meet(),
    id = served.server.newChat(),
    tools = pageTools,
  }: { api?: Api; id?: string; tools?: PageTools } = {},
): AgUiPage {
  const page = new AgUiPage(version, api, id, tools);
  onTestFailed(() => {
    const runs = page.events.map(run => run.map(event => JSON.stringify(event)).join('\n'));
    process.stderr.write(
      `\n${id} on ${version}:\n${runs.join('\n\n')}\n${page.errors.join('\n')}\n`,
    );
  });
  return page;
}

/** What was paid by a page's person. */
export const paid = async ({ api }: Pick<AgUiPage, 'api'>) => (await api.wallet()).payments;

/** Resolves when the turn of a page's chat has come to a status. */
export const turned = ({ api, id }: AgUiPage, status: ChatStatus) =>
  until(`the chat is ${status}`, async () => {
    const chat = await api.chat(id);
    return chat?.status === status && chat;
  });

/** An answer of no to all that a page is asked. */
export const cancelled = ({ interrupts }: AgUiPage) =>
  interrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' as const }));

/** The types of events, without repetitions. */
export function types(run: { type: string }[] | undefined): string[] {
  const all = (run ?? []).map(({ type }) => type);
  return all.filter((type, index) => type !== all[index - 1]);
}
