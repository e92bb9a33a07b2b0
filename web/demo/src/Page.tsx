import { Masthead } from './Masthead.tsx';
import { StoredChat } from './StoredChat.tsx';
import { useChatAddress } from './useChatAddress.ts';
import { useWallet } from './useWallet.ts';

/** One chat with the demo, and what stands around it. */
export function Page() {
  const { chat, keep, startNew } = useChatAddress();
  const { wallet, refresh } = useWallet();

  return (
    <div className="page">
      <Masthead wallet={wallet} onNewChat={startNew} />
      <StoredChat key={chat.id} chat={chat} onFirstMessage={keep} onSettled={refresh} />
    </div>
  );
}
