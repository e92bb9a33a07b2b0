// The SDK's own mock model, which calls the tool for a message and speaks slowly when it has a result.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PACE, payee, WORDS } from './payments.js';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** The model's stream for a prompt. */
export function said(prompt) {
  const last = prompt.at(-1);
  return new ReadableStream({
    async start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] });
      if (last.role === 'user') {
        const text = last.content.find(part => part.type === 'text').text;
        controller.enqueue({
          type: 'tool-call',
          toolCallId: `call-${randomUUID()}`,
          toolName: 'pay',
          input: JSON.stringify({ to: payee(text) }),
        });
        end(controller, 'tool-calls');
        return;
      }
      controller.enqueue({ type: 'text-start', id: '1' });
      for (const delta of WORDS) {
        await pause(PACE);
        controller.enqueue({ type: 'text-delta', id: '1', delta });
      }
      controller.enqueue({ type: 'text-end', id: '1' });
      end(controller, 'stop');
    },
  });
}

function end(controller, unified) {
  controller.enqueue({ type: 'finish', finishReason: { unified, raw: undefined }, usage });
  controller.close();
}
