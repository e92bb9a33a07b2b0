/** The other snippets of the README, each in a function with what it needs. */
import {
  AdkStreamChatTransport,
  AnswerChangedError,
  type Approval,
  type Approvals,
  answerQuestion,
  clientTools,
  declineQuestion,
  questionOf,
  ticketFrom,
  withDigests,
  withErrors,
} from '@adk-stream/client';
import { type UseApprovals, useApprovals } from '@adk-stream/client/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import type { MemoryChat } from '../support/memory-chat.ts';
import { locate, play } from './music.ts';

export function withTicket(key: () => string) {
  const headers = () => ({ authorization: `Bearer ${key()}` });
  const transport = new AdkStreamChatTransport({ headers, ticket: ticketFrom({ headers }) });
  return { headers, transport };
}

export function Stop({ transport, chat }: { transport: AdkStreamChatTransport; chat: MemoryChat }) {
  return (
    <button type="button" onClick={() => transport.stop(chat.id)}>
      Stop
    </button>
  );
}

export function overHttp() {
  const transport = withErrors(new DefaultChatTransport());
  return transport;
}

export function speak(transport: AdkStreamChatTransport, chat: MemoryChat, samples: Int16Array) {
  const speech = transport.speak(chat.id); // PCM, 16 bits, one channel, 16 kHz
  chat.sendMessage({
    role: 'user',
    parts: [{ type: 'data-speech', data: { sampleRate: 16_000 } }],
  });
  speech.write(samples); // an Int16Array, 20 to 100 ms at a time
  speech.end();
}

export function resumeChanged(chat: Pick<MemoryChat, 'resumeStream'>) {
  return {
    onError: (error: Error) => {
      if (error instanceof AnswerChangedError) void chat.resumeStream();
    },
  };
}

export function pageTools() {
  const tools = clientTools(
    {
      change_bgm: async ({ track }: { track: number }) => play(track),
      get_location: {
        run: (_input, { signal }) => locate(signal),
        isIdempotent: true,
        timeoutMs: 60_000,
      },
    },
    { timeoutMs: 30_000 },
  );
  return tools;
}

export function Inbox({ headers }: { headers: () => Record<string, string> }) {
  const { approvals, approve, deny } = useApprovals({ headers });

  return approvals.map(({ approvalId, toolName, input, question }) => (
    <fieldset key={approvalId}>
      <legend>{question ?? toolName}</legend>
      <pre>{JSON.stringify(input)}</pre>
      <button type="button" onClick={() => approve(approvalId, { reason: 'fine' })}>
        Approve
      </button>
      <button type="button" onClick={() => deny(approvalId, { reason: 'not him' })}>
        Deny
      </button>
    </fieldset>
  ));
}

export async function approveLess({ approve }: UseApprovals, { approvalId, input }: Approval) {
  const less = { ...(input as { amount: number }), amount: 5 };
  const { isOurs, decision } = await approve(approvalId, { reason: 'less', input: less });
  return { isOurs, decision };
}

export function digestsOverHttp(store: Approvals) {
  return new DefaultChatTransport({
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
      body: { ...body, id, trigger, messageId, messages: withDigests(messages, store.digestOf) },
    }),
  });
}

export function answerQuestions(
  chat: MemoryChat,
  message: UIMessage,
  askPerson: (question: string, schema: object) => object | undefined,
) {
  for (const part of message.parts) {
    const asked = questionOf(part);
    if (asked?.state === 'open') {
      const data = askPerson(asked.question, asked.schema); // a form of yours
      if (data) answerQuestion(chat, asked, data);
      else declineQuestion(chat, asked, 'not now');
    }
  }
}
