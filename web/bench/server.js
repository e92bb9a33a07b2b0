// The AI SDK on Node, as its documentation says: `streamText` with the SDK's own mock model, piped to
// the response as a UI message stream. A message that says `deltas N` is answered with N deltas, one
// that says `paced N` with the same at the pace of a model.

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { convertToModelMessages, streamText } from 'ai-7';
import { MockLanguageModelV4 } from 'ai-7/test';

const DELTA = '8 bytes ';

/** How long a model takes for a delta, where it speaks at its own pace, in milliseconds. */
const PACE = 20;

/** The model's stream: what the message asks for, all of it ready at once, or each when it is due. */
function said(verb, deltas) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] });
      controller.enqueue({ type: 'text-start', id: '1' });
      if (verb === 'paced') {
        return sayAtPace(controller, deltas);
      }
      for (let n = 0; n < deltas; n++) {
        controller.enqueue({ type: 'text-delta', id: '1', delta: DELTA });
      }
      end(controller, deltas);
    },
  });
}

async function sayAtPace(controller, deltas) {
  const begun = performance.now();
  for (let n = 0; n < deltas; n++) {
    const left = begun + n * PACE - performance.now();
    if (left > 0) {
      await pause(left);
    }
    controller.enqueue({ type: 'text-delta', id: '1', delta: DELTA });
  }
  end(controller, deltas);
}

function end(controller, deltas) {
  controller.enqueue({ type: 'text-end', id: '1' });
  controller.enqueue({
    type: 'finish',
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: deltas, text: deltas, reasoning: undefined },
    },
  });
  controller.close();
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => {
    const text = prompt.at(-1).content.find(part => part.type === 'text').text;
    const [verb, deltas] = text.split(' ');
    return { stream: said(verb, Number(deltas)) };
  },
});
// The mock keeps every call that it was given, for tests to look at; a server would run out of memory.
setInterval(() => {
  model.doStreamCalls.length = 0;
}, 100).unref();

const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const { messages } = JSON.parse(body);
  const result = streamText({ model, messages: await convertToModelMessages(messages) });
  result.pipeUIMessageStreamToResponse(response);
});

// With hundreds of clients an answer takes longer than a connection may usually be idle.
server.keepAliveTimeout = 0;
server.headersTimeout = 0;
server.requestTimeout = 0;

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
});
