/** What holds at the end of every conversation, whatever was said in it. */
import type { UIMessage } from 'ai-7';
import { expect } from 'vitest';
import { done, eventData } from '../../src/event-stream.ts';
import { faultsOf } from '../../src/faults.ts';
import { chatSdks, majors } from '../../src/sdk.ts';
import type { ChatStatus, Payment } from '../../src/server/api.ts';
import { disorderOf, unknownTo } from '../../src/server/legacy-order.ts';
import { LegacyPage } from '../../src/server/legacy-page.ts';
import type { WindowRecord } from '../../src/server/script.ts';
import { shown } from '../../src/server/shown.ts';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import type { Chunk } from '../../src/stream.ts';
import { callsOf, toolName, toolParts } from '../../src/tool-part.ts';
import { can } from './flow.ts';
import { transport } from './served.ts';

export type Sound = {
  /** How many requests the client made: one more is the beginning of an endless loop. */
  posts: number;
  /** What the chat shows as its error, if it ends with one. */
  error?: RegExp;
  /** What the chat may show as its error, or not. */
  excuse?: RegExp;
  /** Faults that nobody can prevent in this case; the test says why. */
  tolerated?: string[];
};

/** The real client and our own checker have nothing to complain of. */
export async function expectSound(tab: Tab, { posts, error, excuse, tolerated = [] }: Sound) {
  await tab.quiet();
  const shownError = tab.page.error?.message;
  const expectedError = error ?? (shownError === undefined ? undefined : excuse);
  if (expectedError === undefined) {
    expect(shownError).toBeUndefined();
  } else {
    expect(shownError).toMatch(expectedError);
  }
  expect(tab.connection.refusals, 'refused requests').toEqual([]);
  if (tab.page instanceof LegacyPage) {
    await expectInOrder(tab.page);
  } else {
    expect(tab.posts, 'requests').toBe(posts);
    for (const window of tab.windows) {
      expectWellFormed(window);
    }
  }
  const faults = await faultsOf(valid(tab), chatSdks[tab.major]);
  if (tab.sawBack) {
    faults.push('state-back');
  }
  expect(faults.filter(fault => !tolerated.includes(fault))).toEqual([]);
  expectNoTextTwice(tab.messages);
  const expected = [...tolerated, ...(expectedError === undefined ? [] : ['throws'])];
  if (!can('foreseen-requests')) {
    // No plain page has the predicates that loop here, and `valid` has judged the rest.
    expected.push('loops', 'invalid');
  }
  const { findings, requests } = await tab.checked();
  expect(findings.filter(({ kind }) => !expected.includes(kind))).toEqual([]);
  // A checker that has stopped at an error foresees nothing that comes after it, and one that is
  // checks a page without predicates does not foresee what that sends.
  if (can('foreseen-requests') && !findings.some(({ kind }) => kind === 'throws')) {
    expect(requests, 'requests as our checker foresees them').toBe(posts - tab.unforeseen);
  }
}

/** Every stream in the order of the legacy dialect, in words that every client knows; none but one a turn. */
async function expectInOrder({ connection }: LegacyPage) {
  const { disorder, streams } = connection;
  expect([...disorder, ...streams.flatMap(disorderOf)], 'the order of the legacy dialect').toEqual(
    [],
  );
  expect(await unknownTo(streams.flatMap(({ chunks }) => chunks))).toEqual([]);
}

/**
 * The messages of a page as its client would judge them. The legacy dialect does not say who settled
 * a question that this page did not answer, and an output beside an open question is invalid.
 */
function valid(tab: Tab): UIMessage[] {
  if (transport !== 'legacy') {
    return tab.messages;
  }
  const messages = structuredClone(tab.messages);
  for (const part of messages.flatMap(toolParts)) {
    if (part.state.startsWith('output-') && part.approval?.approved === undefined) {
      delete part.approval;
    }
  }
  return messages;
}

/** A window opens with its message's id and ends with its finish, whatever is between. */
function expectWellFormed({ state, text }: WindowRecord) {
  expect(state, 'the window').not.toBe('open');
  const events = eventData(text);
  if (events.length > 0) {
    expect(JSON.parse(events[0] ?? '')).toMatchObject({
      type: 'start',
      messageId: expect.any(String),
    });
  }
  if (state === 'ended') {
    expect(events.at(-1)).toBe(done);
    const last = JSON.parse(events.at(-2) ?? '') as Chunk;
    expect(['finish', 'error']).toContain(last.type);
  }
}

function expectNoTextTwice(messages: UIMessage[]) {
  for (const { parts } of messages) {
    const texts = parts.flatMap(part => (part.type === 'text' ? [part.text] : []));
    expect(new Set(texts).size, JSON.stringify(texts)).toBe(texts.length);
    expect(texts).not.toContain('');
  }
}

/** The server has what the page shows, and every client could continue with it. */
export async function expectServed(tab: Tab, status: ChatStatus = 'finished') {
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe(status);
  expect(known(chat?.messages ?? [], tab)).toEqual(known(tab.messages, tab));
  await expectValid(chat?.messages ?? []);
}

/**
 * What a page can know of messages. In the legacy dialect that is not where steps began, nothing
 * about a turn that is not over, and not who settled a question that was not answered here. It counts
 * tokens by names of its own.
 */
export function known(messages: UIMessage[], tab: Tab): unknown {
  if (transport !== 'legacy') {
    return shown(messages);
  }
  const isOver = (id: string) =>
    tab.page instanceof LegacyPage &&
    tab.page.connection.streams.some(
      ({ messageId, state }) => messageId === id && state === 'ended',
    );
  const unanswered = new Set(
    tab.messages
      .flatMap(toolParts)
      .filter(part => part.approval !== undefined && part.approval.approved === undefined)
      .map(part => part.toolCallId),
  );
  const copies = structuredClone(messages);
  for (const message of copies) {
    message.parts = message.parts.filter(part => part.type !== 'step-start');
    if (isOver(message.id)) {
      nameTokens(message.metadata);
    } else {
      delete message.metadata;
    }
    for (const part of toolParts(message)) {
      if (unanswered.has(part.toolCallId) && part.state.startsWith('output-')) {
        delete part.approval;
        if (part.state !== 'output-available') {
          part.state = 'not done';
          delete part.errorText;
        }
      }
    }
  }
  return shown(copies);
}

/** Gives the tokens of the legacy dialect the names that all others have. */
function nameTokens(metadata: unknown): void {
  const { usage } = (metadata ?? {}) as { usage?: Record<string, unknown> };
  const names = { promptTokens: 'inputTokens', completionTokens: 'outputTokens' };
  for (const [old, name] of Object.entries(names)) {
    if (usage !== undefined && old in usage) {
      usage[name] = usage[old];
      delete usage[old];
    }
  }
}

export async function expectValid(messages: UIMessage[]) {
  for (const major of majors) {
    expect(await faultsOf(messages, chatSdks[major]), `on version ${major}`).toEqual([]);
  }
}

/** The chat as the server has it, once its turn has come to a status. */
export function servedAs(tab: Tab, status: ChatStatus) {
  return until(`the chat is ${status}`, async () => {
    const chat = await tab.api.chat(tab.id);
    return chat?.status === status && chat;
  });
}

/** What was paid, in any order, and nothing else; each payment once. */
export async function expectPaid(
  tab: Tab,
  payments: Pick<Payment, 'amount' | 'recipient'>[],
): Promise<void> {
  const wallet = await tab.api.wallet();
  const paid = wallet.payments.map(({ amount, recipient }) => ({ amount, recipient }));
  expect(sorted(paid)).toEqual(sorted(payments));
  const total = payments.reduce((sum, { amount }) => sum + amount, 0);
  expect(wallet.balance).toBeCloseTo(1000 - total, 6);
  for (const field of ['transactionId', 'toolCallId'] as const) {
    const ids = wallet.payments.map(payment => payment[field]);
    expect(new Set(ids).size, field).toBe(ids.length);
  }
}

function sorted(payments: Pick<Payment, 'amount' | 'recipient'>[]) {
  return payments
    .map(({ amount, recipient }) => ({ amount, recipient }))
    .sort((a, b) => a.recipient.localeCompare(b.recipient) || a.amount - b.amount);
}

/** The calls of each message of the agent, as `tool: state`, or `tool: progress`. */
export function outline(messages: UIMessage[]): string[][] {
  return messages
    .filter(message => message.role === 'assistant')
    .map(message =>
      callsOf(message).map(
        part => `${toolName(part)}: ${part.preliminary === true ? 'progress' : part.state}`,
      ),
    );
}

/** The agent's last word is a text, after all its calls. */
export function expectLastWord(tab: Tab, words: RegExp = /\S/) {
  const last = tab.messages.at(-1);
  expect(last?.role).toBe('assistant');
  // A turn that was stopped ends with a step in which nothing was said.
  expect(last?.parts.findLast(part => part.type !== 'step-start')?.type).toBe('text');
  expect(tab.text).toMatch(words);
}
