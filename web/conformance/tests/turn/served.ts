/** The server of a test file, and tabs on it. */
import { afterAll, beforeAll, inject, onTestFailed } from 'vitest';
import type { CellName } from '../../src/cells.ts';
import type { Major } from '../../src/sdk.ts';
import type { AdkPlace } from '../../src/server/adk.ts';
import type { AgUiPlace } from '../../src/server/ag-ui-agent.ts';
import type { AiSdkPlace } from '../../src/server/ai-sdk-route.ts';
import { Api } from '../../src/server/api.ts';
import type { LitellmPlace } from '../../src/server/litellm.ts';
import { Server, type ServerOptions } from '../../src/server/server.ts';
import { type Another, Tab, type TabOptions } from '../../src/server/tab.ts';
import { can, cell } from './flow.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cell: CellName;
    /** The ADK that the files of a project share. */
    adk: AdkPlace | undefined;
    /** The AI SDK route that the files of a project share. */
    aiSdk: AiSdkPlace | undefined;
    /** The AG-UI agent that all projects share. */
    agUi: AgUiPlace | undefined;
    /** The LiteLLM that the files of a project share. */
    litellm: LitellmPlace | undefined;
  }
}

/** The way that the pages of this run take. */
export const { transport } = cell;

/** Who answers in this run, where a test names nobody. */
export const { agent } = cell;

/** Whether the agent asks all that it wants to know at once, or one question after the other. */
export const asksTogether = can('parallel-questions');

/**
 * Whether its client sends the output at once, although the question is open. Where a tool at ADK asks
 * the page, it does, and the question is asked once more.
 */
export const sendsBeside = agent === 'adk-live';

/**
 * Whether a page runs its tool while somebody is asked about another call of the same step. Where an agent
 * with tools of its own asks, it can't: the client takes no notice of what runs there, and would send the
 * output for ever.
 */
export const runsBeside = can('page-tool-beside-question') || sendsBeside;

export type Served = {
  readonly server: Server;
  /** Somebody new. */
  meet(): Api;
  /** A tab of somebody new on a new chat. */
  open(major: Major, options?: Omit<TabOptions, 'server' | 'major'>): Tab;
  /** Another tab on the chat of a tab, with the messages that the server has. */
  reopen(tab: Tab, options?: Another): Promise<Tab>;
};

export function serve(options: ServerOptions = {}): Served {
  let server: Server | undefined;
  beforeAll(async () => {
    const shared = {
      adk: inject('adk'),
      aiSdk: inject('aiSdk'),
      agUi: inject('agUi'),
      litellm: inject('litellm'),
    };
    server = await Server.start({ agent, ...shared, ...options });
  });
  afterAll(async () => {
    await server?.stop();
  });
  return {
    get server() {
      if (server === undefined) {
        throw new Error('the server runs only while tests do');
      }
      return server;
    },
    meet() {
      const { server } = this;
      return new Api(() => server.url, server.newPrincipal(), transport, server.ledger);
    },
    open(major, tabOptions = {}) {
      const { sends } = cell;
      const options = { server: this.server, major, transport, ...(sends && { sends }) };
      return logged(new Tab({ ...options, ...tabOptions }));
    },
    async reopen(tab, tabOptions = {}) {
      return logged(await tab.another(tabOptions));
    },
  };
}

/** A test that fails prints what its tabs were sent. */
function logged(tab: Tab): Tab {
  onTestFailed(() => {
    process.stderr.write(`\n${tab.id} on version ${tab.major}:\n${tab.story}\n`);
  });
  return tab;
}
