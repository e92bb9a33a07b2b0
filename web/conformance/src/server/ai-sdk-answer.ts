/** An answer as the AI SDK's documentation has it: `streamText` of version 6 or 7, on the emulator of Gemini. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as ai6 from 'ai-6';
import * as ai7 from 'ai-7';
import { createGoogleGenerativeAI as google6 } from 'google-6';
import { createGoogleGenerativeAI as google7 } from 'google-7';
import type { Major } from '../sdk.ts';
import { toolsFor } from './ai-sdk-tools.ts';

/** What `useChat` sends. */
export type Body = { messages: ai7.UIMessage[] };

export type AnswerOptions = {
  emulator: string;
  /** A line of JSON for every payment. */
  ledger: string;
  /** What happens between a payment and its result. */
  paid?: () => Promise<void>;
};

/** The version of a request for a route, and what it brings. */
export async function requested(
  request: IncomingMessage,
): Promise<{ major: Major; body: Body } | undefined> {
  const major = /^\/([67])\/api\/chat$/.exec(request.url ?? '')?.[1] as Major | undefined;
  if (major === undefined || request.method !== 'POST') {
    return undefined;
  }
  const pieces: Buffer[] = [];
  for await (const piece of request) {
    pieces.push(piece as Buffer);
  }
  return { major, body: JSON.parse(Buffer.concat(pieces).toString()) as Body };
}

export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { major, messages }: { major: Major; messages: ai7.UIMessage[] },
  { emulator, ledger, paid }: AnswerOptions,
): Promise<void> {
  const user = decodeURIComponent(String(request.headers['x-adk-stream-principal']));
  const tools = toolsFor(ledger, user, paid);
  // The types of the two majors differ in what they add, not in what is used here.
  const ai = (major === '6' ? ai6 : ai7) as unknown as typeof ai7;
  const google = (major === '6' ? google6 : google7) as unknown as typeof google7;
  const baseURL = `${emulator}/v1beta`;
  const model = google({ apiKey: 'a-key', baseURL, fetch: withPlainResults });
  const result = ai.streamText({
    model: model('gemini-3-flash'),
    messages: await ai.convertToModelMessages(messages),
    tools: tools as unknown as ai7.ToolSet,
    stopWhen: ai.stepCountIs(8),
    maxRetries: 0,
  });
  result.pipeUIMessageStreamToResponse(response, {
    originalMessages: messages,
    onError: error => (error instanceof Error ? error.message : String(error)),
  });
}

/**
 * Google's provider puts what a tool gave under `content`, and an error or a denial as a text; the demo
 * behind the emulator reads results as they are, and errors under `error`.
 */
const withPlainResults: typeof fetch = (input, init) => {
  const body = JSON.parse(String(init?.body), (key, value) => {
    if (key !== 'response' || value?.content === undefined) {
      return value;
    }
    return typeof value.content === 'string' ? { error: value.content } : value.content;
  });
  return fetch(input, { ...init, body: JSON.stringify(body) });
};
