/** The first snippet of the README: a page with the transport and a tool that it runs. */
import { AdkStreamChatTransport, clientTools, sendAutomaticallyWhen } from '@adk-stream/client';
import { useChat } from '@ai-sdk/react';
import { Messages } from './messages.tsx';
import { play } from './music.ts';

const transport = new AdkStreamChatTransport();
const tools = clientTools({ change_bgm: ({ track }: { track: number }) => play(track) });

export function Page() {
  const chat = useChat({ transport, sendAutomaticallyWhen, onToolCall: tools.onToolCall });
  tools.bind(chat);
  // chat.messages, chat.sendMessage, chat.addToolApprovalResponse … as usual
  return <Messages chat={chat} />;
}
