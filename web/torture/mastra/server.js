// An agent of Mastra's with a tool that needs an approval, as its documentation has it: runs and messages
// are in LibSQL, a suspended run is found again by its thread, and is approved or declined by its id.

import { createServer } from 'node:http';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { MockLanguageModelV4 } from 'ai-7/test';
import { z } from 'zod';
import { said } from '../model.js';
import { pay } from '../payments.js';

const RESOURCE = 'ann';

const agent = new Agent({
  id: 'payer',
  name: 'Payer',
  instructions: 'You pay.',
  model: new MockLanguageModelV4({ doStream: async ({ prompt }) => ({ stream: said(prompt) }) }),
  tools: {
    pay: createTool({
      id: 'pay',
      description: 'Pays.',
      inputSchema: z.object({ to: z.string() }),
      requireApproval: true,
      execute: ({ to }, context) => pay(to, context?.agent?.toolCallId),
    }),
  },
  memory: new Memory(),
});

const mastra = new Mastra({
  agents: { agent },
  storage: new LibSQLStore({ id: 'storage', url: `file:${process.env.CHATS}` }),
});

const payer = mastra.getAgent('agent');

/** Streams a run to its client, and to its end if the client leaves. */
async function send(response, stream) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const chunk of stream.fullStream) {
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end();
}

async function say(response, thread, { id, text }) {
  const messages = [{ id, role: 'user', content: [{ type: 'text', text }] }];
  await send(response, await payer.stream(messages, { memory: { thread, resource: RESOURCE } }));
}

async function answer(response, runId, { toolCallId, approved }) {
  const given = { runId, toolCallId };
  await send(
    response,
    approved ? await payer.approveToolCall(given) : await payer.declineToolCall(given),
  );
}

async function show(response, threadId) {
  const { runs } = await payer.listSuspendedRuns({ threadId, resourceId: RESOURCE });
  const memory = await payer.getMemory();
  const { messages } = await memory.recall({ threadId, resourceId: RESOURCE });
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ runs, messages }));
}

const server = createServer(async (request, response) => {
  const [, kind, id] = request.url.split('/');
  try {
    let body = '';
    for await (const piece of request) body += piece;
    if (kind === 'threads' && request.method === 'POST') {
      await say(response, id, JSON.parse(body));
    } else if (kind === 'runs' && request.method === 'POST') {
      await answer(response, id, JSON.parse(body));
    } else if (kind === 'threads') {
      await show(response, id);
    } else {
      response.writeHead(404).end();
    }
  } catch (error) {
    if (!response.headersSent) {
      response.writeHead(500);
    }
    response.end(String(error));
  }
});

server.listen(Number(process.env.PORT), '127.0.0.1');
