import type { UseChatHelpers } from '@ai-sdk/react';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import type { Message } from '../server/api.ts';
import { chats } from '../server/transport.ts';

/** Goes on after an error, without doing twice what was done already. */
export async function tryAgain(chat: UseChatHelpers<Message>): Promise<void> {
  const { id, messages, error } = chat;
  const hasAnswers =
    lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
    lastAssistantMessageIsCompleteWithToolCalls({ messages });
  if (hasAnswers) {
    // An answer that came before is not counted again.
    return chat.sendMessage();
  }
  if (error instanceof TypeError) {
    // The network failed, not the turn: the server may have gone on alone.
    const stored = await chats.load(id).catch(() => undefined);
    const said = messages.findLast(message => message.role === 'user');
    if (stored?.messages.some(message => message.id === said?.id)) {
      chat.setMessages(stored.messages);
      return chat.resumeStream();
    }
  }
  const isUnheard = messages.at(-1)?.role === 'user';
  return isUnheard ? chat.sendMessage() : chat.regenerate();
}
