import { durableChats } from '@adk-stream/client';
import { useDurableChat } from '@adk-stream/client/react';
import { AssistantRuntimeProvider } from '@assistant-ui/react';
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { ChatContext } from './ChatContext.ts';
import { Thread } from './Thread.tsx';

const chats = durableChats({ profile: 'v7' });
const { approvals } = chats;

// Tools that run in the page.
const tools = {
  change_bgm: ({ track }: { track: number }) => ({ success: true, track }),
};

export function Chat({ id, isNew }: { id: string; isNew: boolean }) {
  const chat = useDurableChat({ id, isNew, chats, tools });
  const runtime = useAISDKRuntime(chat, {
    // The server denies what is open when somebody writes, and says so to the model.
    cancelPendingToolCallsOnSend: false,
  });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ChatContext value={{ messages: chat.messages, answer: chat.answer, approvals }}>
        <Thread />
      </ChatContext>
      {chat.error && <p role="alert">{chat.error.message}</p>}
    </AssistantRuntimeProvider>
  );
}
