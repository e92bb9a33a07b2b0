/**
 * Somebody who pays, with the real client in a page, while servers and databases die: whatever goes
 * wrong, the page is loaded again, as people do.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Major } from '../../src/sdk.ts';
import { Api, type ServedChat } from '../../src/server/api.ts';
import type { Principal, Server } from '../../src/server/server.ts';
import { Tab } from '../../src/server/tab.ts';
import { type ToolPart, toolParts } from '../../src/tool-part.ts';

const timeoutMs = 120_000;

/** After which time a person loads a page again that only turns its wheel. */
const reloadMilliseconds = 3_000;

/** The outcomes of payments, by what the chats show. */
export type Tally = { paid: number; denied: number; unknown: number; reloads: number };

export type PayerOptions = {
  /** One of the servers, whose people are known to all of them. */
  server: Server;
  /** Where they are asked: at a server, or at what is in front of several. */
  place: { url: string };
  principal: Principal | undefined;
  major: Major;
  transport: 'sse' | 'socket';
};

type Payment = { chat: string; approved: boolean };

export class Payer {
  readonly #options: PayerOptions;
  readonly #api: Api;
  readonly #payments: Payment[] = [];
  #reloads = 0;

  constructor(options: PayerOptions) {
    this.#options = options;
    this.#api = new Api(this.#origin, options.principal, options.transport);
  }

  /** Pays, or says no, again and again until all is over. */
  async payUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { principal, major, transport } = this.#options;
      const number = this.#payments.length;
      const payment = {
        chat: `payment-${number}-of-${principal?.name}-on-${major}-${transport}`,
        approved: number % 3 < 2,
      };
      await this.#pay(payment);
      this.#payments.push(payment);
    }
  }

  /** The ledger agrees with the journals, and what nobody can know is said to be unknown. */
  async settle(): Promise<Tally> {
    const tally: Tally = { paid: 0, denied: 0, unknown: 0, reloads: this.#reloads };
    const { payments } = await this.#patiently(() => this.#api.wallet());
    for (const { chat: id, approved } of this.#payments) {
      const chat = await this.#patiently(() => this.#api.chat(id));
      const call = chat?.messages.flatMap(toolParts)[0];
      const made = payments.filter(({ toolCallId }) => toolCallId === call?.toolCallId).length;
      const seen = { id, approved, made, state: call?.state };
      if (call?.state === 'output-available') {
        expect(seen).toMatchObject({ approved: true, made: 1 });
        tally.paid += made;
      } else if (call?.state === 'output-denied') {
        expect(seen).toMatchObject({ approved: false, made: 0 });
        tally.denied++;
      } else {
        expect(call?.errorText, JSON.stringify(seen)).toMatch(/unknown/);
        expect(approved && made <= 1, JSON.stringify(seen)).toBe(true);
        tally.unknown++;
        tally.paid += made;
      }
    }
    // Nothing was paid that no chat knows of.
    expect(payments).toHaveLength(tally.paid);
    return tally;
  }

  readonly #origin = (): string => this.#options.place.url;

  async #pay({ chat, approved }: Payment): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    let tab = this.#open(chat);
    tab.begin('Send $0.10 to Sam');
    for (;;) {
      const failed = await failure(tab);
      const call = tab.calls('process_payment')[0];
      if (failed === undefined && call?.state === 'approval-requested') {
        tab.answer(call, approved);
      } else if (failed === undefined && isOver(tab, call) && (await this.#isFinished(chat))) {
        break;
      } else if (performance.now() > deadline) {
        throw new Error(`${chat} never ended: ${failed}\n${tab.story}`);
      } else {
        tab = await this.#reload(tab);
      }
    }
  }

  /** Whether there is more to come: a page that was loaded in the middle of it can't know. */
  async #isFinished(chat: string): Promise<boolean> {
    const stored = await this.#patiently(() => this.#api.chat(chat));
    return stored?.status === 'finished';
  }

  #open(id: string, stored?: ServedChat): Tab {
    const { server, major, transport } = this.#options;
    return new Tab({
      server,
      major,
      transport,
      api: this.#api,
      id,
      socketOrigin: this.#origin,
      ...(stored === undefined ? {} : { messages: stored.messages }),
    });
  }

  async #reload(before: Tab): Promise<Tab> {
    this.#reloads++;
    before.page.stop();
    await pause(20);
    const stored = await this.#patiently(() => this.#api.chat(before.id));
    const tab = this.#open(before.id, stored);
    if (stored === undefined) {
      // The message never arrived, and is still in the box that it was typed in.
      tab.begin('Send $0.10 to Sam');
    } else {
      tab.page.resume();
    }
    return tab;
  }

  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (performance.now() > deadline) {
          throw error;
        }
        await pause(20);
      }
    }
  }
}

/**
 * What the page shows to have gone wrong, once it does nothing more by itself. A person does not wait
 * for ever: Node's `fetch` never ends if the server dies between the connection and the request.
 */
async function failure(tab: Tab): Promise<string | undefined> {
  try {
    const isQuiet = await Promise.race([
      tab.quiet().then(() => true),
      pause(reloadMilliseconds, false, { ref: false }),
    ]);
    return isQuiet ? tab.page.error?.message : 'nothing happens';
  } catch (error) {
    return String(error);
  }
}

/** Whether the payment is made or not made, and the agent has said so. */
function isOver(tab: Tab, call: ToolPart | undefined): boolean {
  return call?.state.startsWith('output-') === true && /\S/.test(tab.text);
}
