/** The README's page that keeps a chat as the server has it. */
import { durableChats, withErrors } from '@adk-stream/client';
import { useDurableChat } from '@adk-stream/client/react';
import { DefaultChatTransport } from 'ai';
import { Messages } from './messages.tsx';
import { play } from './music.ts';

export function durablePage(headers: () => Record<string, string>) {
  const chats = durableChats({ headers }); // once for the page: its chats share it
  const tools = { change_bgm: ({ track }: { track: number }) => play(track) };

  function Chat({ id }: { id: string }) {
    const chat = useDurableChat({ id, chats, tools });
    if (!chat.isLoaded) return <p>{chat.loadError?.message ?? 'Loading …'}</p>;
    // chat.messages, chat.sendMessage, chat.addToolApprovalResponse … as from useChat
    return <Messages chat={chat} />;
  }

  return { Chat, chats };
}

export function durableOverHttp(headers: () => Record<string, string>) {
  const chats = durableChats({
    headers,
    transport: ({ prepareReconnectToStreamRequest }) =>
      withErrors(new DefaultChatTransport({ headers, prepareReconnectToStreamRequest })),
  });
  return chats;
}
