/** The server of a test file, and tabs on it. */
import { afterAll, beforeAll, onTestFailed } from 'vitest';
import type { Major } from '../../src/sdk.ts';
import { Server, type ServerOptions } from '../../src/server/server.ts';
import { Tab, type TabOptions } from '../../src/server/tab.ts';

export type Served = {
  readonly server: Server;
  /** A tab of somebody new on a new chat. */
  open(major: Major, options?: Omit<TabOptions, 'server' | 'major'>): Tab;
  /** Another tab on the chat of a tab, with the messages that the server has. */
  reopen(tab: Tab, options?: Pick<TabOptions, 'tools'>): Promise<Tab>;
};

export function serve(options: ServerOptions = {}): Served {
  let server: Server | undefined;
  beforeAll(async () => {
    server = await Server.start(options);
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
    open(major, tabOptions = {}) {
      return told(new Tab({ server: this.server, major, ...tabOptions }));
    },
    async reopen(tab, tabOptions = {}) {
      return told(await tab.another(tabOptions));
    },
  };
}

/** A test that fails tells what its tabs were sent. */
function told(tab: Tab): Tab {
  onTestFailed(() => {
    process.stderr.write(`\n${tab.id} on version ${tab.major}:\n${tab.story}\n`);
  });
  return tab;
}
