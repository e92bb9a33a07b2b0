/** When a chat sends by itself. */
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { RecentMap } from './recent-map.ts';

/**
 * How often the same answers are sent: once, and again where a person or a page gives them again
 * after a failure. A server that takes them and asks for them again would be sent them for ever.
 */
const maxRepeats = 3;

/** The answers of the messages that were sent last, and how often they were. */
const sent = new RecentMap<{ answers: string; times: number }>(100);

/**
 * For the option of `useChat` with the same name: sends when every call of the last step is answered,
 * by a person or by the page.
 */
export function sendAutomaticallyWhen({ messages }: { messages: UIMessage[] }): boolean {
  const isComplete =
    lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
    lastAssistantMessageIsCompleteWithToolCalls({ messages });
  const last = messages.at(-1);
  return isComplete && last !== undefined && isWorthSending(last);
}

function isWorthSending({ id, parts }: UIMessage): boolean {
  // With as many steps and the same calls in the same states, nothing has come of it.
  const answers = JSON.stringify(
    parts.map(part =>
      'toolCallId' in part
        ? [part.toolCallId, part.state, 'approval' in part ? part.approval?.id : null]
        : part.type,
    ),
  );
  const before = sent.get(id);
  const times = before?.answers === answers ? before.times + 1 : 1;
  sent.set(id, { answers, times });
  return times <= maxRepeats;
}
