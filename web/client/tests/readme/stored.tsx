/** The README's page that loads a chat before it shows it. */
import {
  AdkStreamChatTransport,
  type StoredChat,
  storedChats,
  ticketFrom,
} from '@adk-stream/client';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { Root } from 'react-dom/client';
import { Messages } from './messages.tsx';

export function storedPage(root: Root, headers: () => Record<string, string>) {
  const chats = storedChats({ headers });
  const ticket = ticketFrom({ headers });
  const transport = new AdkStreamChatTransport({ headers, ticket, seqOf: chats.seqOf });

  async function open(id: string) {
    const stored = await chats.load(id); // undefined, if the server has no such chat
    root.render(<Chat id={id} stored={stored} />);
  }

  function Chat({ id, stored }: { id: string; stored: StoredChat | undefined }) {
    const messages = stored?.messages ?? [];
    const chat = useChat({ id, messages, resume: stored !== undefined, transport });
    return <Messages chat={chat} />;
  }

  return { open, chats, transport };
}

export function storedOverHttp(
  chats: ReturnType<typeof storedChats>,
  headers: () => Record<string, string>,
) {
  const { prepareReconnectToStreamRequest } = chats;
  const transport = new DefaultChatTransport({ headers, prepareReconnectToStreamRequest });
  return transport;
}
