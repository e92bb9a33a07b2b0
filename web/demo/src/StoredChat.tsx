import { Chat } from './Chat.tsx';
import type { ChatAddress } from './useChatAddress.ts';
import { useStoredMessages } from './useStoredMessages.ts';

interface Props {
  chat: ChatAddress;
  onFirstMessage: () => void;
  onSettled: () => void;
}

/** A chat as the server knows it, then live. */
export function StoredChat({ chat, onFirstMessage, onSettled }: Props) {
  const { stored, loadAgain } = useStoredMessages(chat);

  switch (stored.state) {
    case 'loading':
      return <main className="chat" aria-busy="true" />;
    case 'failed':
      return (
        <main className="chat">
          <div className="problem" role="alert">
            <p>The chat can’t be loaded: {stored.message}</p>
            <button type="button" onClick={loadAgain}>
              Try again
            </button>
          </div>
        </main>
      );
    case 'loaded':
      return (
        <Chat
          id={chat.id}
          stored={stored.messages}
          isForgotten={stored.isForgotten}
          onFirstMessage={onFirstMessage}
          onSettled={onSettled}
        />
      );
  }
}
