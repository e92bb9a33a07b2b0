import type { UseChatHelpers } from '@ai-sdk/react';
import { hasAnswersToSend } from './hasAnswersToSend.ts';
import { type Message, storedChat } from './server.ts';

/** Goes on after an error, without doing twice what was done already. */
export async function tryAgain(chat: UseChatHelpers<Message>): Promise<void> {
  const { id, messages, error } = chat;
  if (hasAnswersToSend({ messages })) {
    // An answer that came before is not counted again.
    return chat.sendMessage();
  }
  if (error instanceof TypeError) {
    // The network failed, not the turn: the server may have gone on alone.
    const stored = await storedChat(id).catch(() => undefined);
    const said = messages.findLast(message => message.role === 'user');
    if (stored?.messages.some(message => message.id === said?.id)) {
      chat.setMessages(stored.messages);
      return chat.resumeStream();
    }
  }
  const isUnheard = messages.at(-1)?.role === 'user';
  return isUnheard ? chat.sendMessage() : chat.regenerate();
}
