// The AI SDK on Node with a tool that needs an approval, as its documentation has it: messages are stored
// as "Chatbot Message Persistence" says, the stream is consumed on the server so that it ends without its
// client, ids are made by the server, and approvals are signed.
//
// Two things are stronger than there. What a request brings is stored before anything runs, as "Chatbot
// Resume Streams" does, and a file is replaced as a whole, so that a kill leaves no half of it.

import { mkdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  consumeStream,
  convertToModelMessages,
  createIdGenerator,
  jsonSchema,
  pipeUIMessageStreamToResponse,
  stepCountIs,
  streamText,
  tool,
  toUIMessageStream,
  validateUIMessages,
} from 'ai-7';
import { MockLanguageModelV4 } from 'ai-7/test';
import { said } from './model.js';
import { pay } from './payments.js';

const folder = process.env.CHATS;
mkdirSync(folder, { recursive: true });

const file = id => join(folder, `${encodeURIComponent(id)}.json`);
let writes = 0;

async function loadChat(id) {
  return JSON.parse(await readFile(file(id), 'utf8'));
}

async function saveChat({ chatId, messages }) {
  writes += 1;
  const fresh = `${file(chatId)}.${process.pid}.${writes}`;
  await writeFile(fresh, JSON.stringify(messages));
  await rename(fresh, file(chatId));
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({ stream: said(prompt) }),
});

const tools = {
  pay: tool({
    description: 'Pays.',
    inputSchema: jsonSchema({
      type: 'object',
      properties: { to: { type: 'string' } },
      required: ['to'],
    }),
    execute: ({ to }, { toolCallId }) => pay(to, toolCallId),
  }),
};

async function post(request, response) {
  let body = '';
  for await (const piece of request) body += piece;
  const { id: chatId, messages } = JSON.parse(body);
  const validated = await validateUIMessages({ messages, tools });
  await saveChat({ chatId, messages: validated });

  const result = streamText({
    model,
    messages: await convertToModelMessages(validated),
    tools,
    toolApproval: { pay: 'user-approval' },
    experimental_toolApprovalSecret: 'a secret that only these servers know',
    stopWhen: stepCountIs(5),
    maxRetries: 0,
  });
  result.consumeStream();
  const stream = toUIMessageStream({
    stream: result.stream,
    originalMessages: validated,
    generateMessageId: createIdGenerator({ prefix: 'msg', size: 16 }),
    onEnd: ({ messages: all }) => saveChat({ chatId, messages: all }),
  });
  await pipeUIMessageStreamToResponse({ response, stream, consumeSseStream: consumeStream });
}

const server = createServer(async (request, response) => {
  const chat = /^\/api\/chat\/([^/]+)$/.exec(request.url)?.[1];
  try {
    if (request.method === 'POST' && request.url === '/api/chat') {
      await post(request, response);
    } else if (request.method === 'GET' && chat !== undefined) {
      const messages = await loadChat(decodeURIComponent(chat));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ messages }));
    } else {
      response.writeHead(404).end();
    }
  } catch (error) {
    if (!response.headersSent) {
      response.writeHead(error.code === 'ENOENT' ? 404 : 500);
    }
    response.end(String(error));
  }
});

server.listen(Number(process.env.PORT), '127.0.0.1');
