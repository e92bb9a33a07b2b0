// Tools of every kind that ADK for TypeScript knows, which write down what they do. They are those of
// python/adk/agents/toolbox.py.

import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, FunctionTool, LlmAgent, LongRunningFunctionTool } from '@google/adk';
import { z } from 'zod';

function note(event: string, context?: Context, more: object = {}) {
  const entry = { event, call: context?.functionCallId, at: Date.now() / 1000, ...more };
  appendFileSync(String(process.env.LEDGER), `${JSON.stringify(entry)}\n`);
}

const pay = new FunctionTool({
  name: 'pay',
  description: 'Pays, behind a confirmation.',
  parameters: z.object({ to: z.string(), seconds: z.number().optional() }),
  requireConfirmation: true,
  execute: async ({ to, seconds }, context) => {
    note('pay', context, { to });
    await sleep((seconds ?? 0.1) * 1000);
    return { paid: to };
  },
});

const look = new FunctionTool({
  name: 'look',
  description: 'A plain tool.',
  parameters: z.object({ at: z.string() }),
  execute: ({ at }, context) => {
    note('look', context);
    return { seen: at };
  },
});

const doze = new FunctionTool({
  name: 'doze',
  description: 'Takes its time.',
  parameters: z.object({ seconds: z.number() }),
  execute: async ({ seconds }, context) => {
    note('doze', context);
    await sleep(seconds * 1000);
    note('awake', context);
    return { slept: seconds };
  },
});

const breakDown = new FunctionTool({
  name: 'break_down',
  description: 'A tool that fails.',
  parameters: z.object({}),
  execute: () => {
    throw new Error('it broke');
  },
});

const play = new LongRunningFunctionTool({
  name: 'play',
  description: 'A long-running tool that has nothing to say yet.',
  parameters: z.object({ track: z.number() }),
  execute: (_, context) => note('play', context),
});

const order = new LongRunningFunctionTool({
  name: 'order',
  description: 'A long-running tool that says something meanwhile.',
  parameters: z.object({}),
  execute: () => ({ status: 'pending' }),
});

const locate = new LongRunningFunctionTool({
  name: 'locate',
  description: 'A long-running tool that asks first.',
  parameters: z.object({}),
  execute: (_, context) => {
    if (context && !context.toolConfirmation) {
      context.requestConfirmation({ hint: 'Tell where you are?' });
      context.actions.skipSummarization = true;
      return { error: 'waiting' };
    }
    note('locate', context);
    return undefined;
  },
});

/** Asks a person or a page, as docs/adk.md describes, and waits for the decision. */
async function decision(ask: object, context?: Context) {
  const chat = context?.state.get<{ chat: string }>('adk_stream')?.chat;
  const body = JSON.stringify({ chat, call: context?.functionCallId, nth: 0, ask });
  for (;;) {
    const response = await fetch(`${process.env.ADK_STREAM_URL}/api/agent/asks`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${process.env.ADK_STREAM_AGENT_KEY}`,
        'Content-Type': 'application/json',
      },
      body,
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    if (answer.decision) return answer;
  }
}

const ask = new FunctionTool({
  name: 'ask',
  description: 'Asks through adk-stream.',
  parameters: z.object({ question: z.string() }),
  execute: async ({ question }, context) => {
    const answer = await decision({ approval: { question } }, context);
    return { answer: answer.decision === 'approved' ? 'yes' : 'no' };
  },
});

const send = new FunctionTool({
  name: 'send',
  description: 'Sends money.',
  parameters: z.object({ amount: z.number(), recipient: z.string() }),
  execute: async ({ amount, recipient }, context) => {
    const question = `Send ${amount} to ${recipient}?`;
    const { decision: decided, reason } = await decision({ approval: { question } }, context);
    if (decided !== 'approved') return { error: reason ? `Denied: ${reason}` : 'Denied' };
    note('send', context);
    return { sent: amount, currency: 'USD' };
  },
});

const page = new FunctionTool({
  name: 'page',
  description: 'Has the page play.',
  parameters: z.object({}),
  execute: async (_, context) => {
    const clientCall = { tool: 'play', input: { track: 1 } };
    return { page: (await decision({ clientCall }, context)).output };
  },
});

export const tools = [pay, look, doze, breakDown, play, order, locate, ask, send, page];
