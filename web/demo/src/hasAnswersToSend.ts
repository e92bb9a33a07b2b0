import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import type { Message } from './server.ts';

/** Whether the agent waits for nothing but what this page has to send: either stock predicate. */
export function hasAnswersToSend(chat: { messages: Message[] }): boolean {
  return (
    lastAssistantMessageIsCompleteWithApprovalResponses(chat) ||
    lastAssistantMessageIsCompleteWithToolCalls(chat)
  );
}
