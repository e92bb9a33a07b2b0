/**
 * The apps of ADK's own tests (`python/adk/agents`), with a model that does what a test says: `plain`,
 * as most agents are, and `resumable`, which waits for all answers of a step.
 */
import { existsSync, readFileSync } from 'node:fs';
import { expect, inject } from 'vitest';
import type { Content, Emulator, Rule } from '../../src/server/emulator.ts';
import type { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import type { Json } from '../../src/stream.ts';

export const apps = ['plain', 'resumable'] as const;

type Part = Content['parts'][number];

/** A call, as the model makes it. */
export function call(name: string, id: string, args: { [key: string]: Json } = {}): Part {
  return { functionCall: { name, id, args } };
}

/** A rule: the model says this, once. */
export function says(...parts: (Part | string)[]): Rule {
  const content = {
    role: 'model',
    parts: parts.map(part => (typeof part === 'string' ? { text: part } : part)),
  };
  return {
    on: 'generate',
    times: 1,
    respond: [{ candidates: [{ content, finishReason: 'STOP' }] }],
  };
}

/** What the model was asked with, each time, in short. */
export async function asked(emulator: Emulator): Promise<string[][]> {
  const requests = await emulator.requests();
  return requests.map(({ contents = [] }) => contents.flatMap(({ parts }) => parts.map(short)));
}

function short(part: Part): string {
  const { text, functionCall, functionResponse } = part as {
    text?: string;
    functionCall?: { id: string; name: string };
    functionResponse?: { id: string; response?: Json };
  };
  if (functionCall !== undefined) {
    return `call ${functionCall.id} ${functionCall.name}`;
  }
  if (functionResponse !== undefined) {
    return `response ${functionResponse.id} ${JSON.stringify(functionResponse.response)}`;
  }
  return text ?? JSON.stringify(part);
}

/** Something that a tool noted. */
export type Note = { event: string; call: string | null; [field: string]: unknown };

/** What the tools noted of some calls, in order: by default, of all. */
export function notes(...calls: string[]): Note[] {
  const path = inject('adk')?.notes ?? '';
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return lines
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Note)
    .filter(note => calls.length === 0 || calls.includes(note.call ?? ''));
}

/** Waits until a tool has noted something of a call. */
export function noted(call: string, event: string): Promise<Note> {
  return until(`${call} has noted ${event}`, () => notes(call).find(note => note.event === event));
}

let calls = 0;

/** A name for a call that no other test gives. */
export function newCall(): string {
  return `fc-${++calls}-${process.pid}`;
}

/** The page shows the error, and the chat has it. */
export async function expectFailed(tab: Tab, code: string, words: RegExp) {
  const chat = await tab.api.chat(tab.id);
  expect(chat?.status).toBe('failed');
  expect(chat?.error).toMatchObject({ code, message: expect.stringMatching(words) });
}
