import { Mark } from './Mark.tsx';
import { money } from './money.ts';
import { ServerLight } from './ServerLight.tsx';
import type { Wallet } from './server.ts';

interface Props {
  wallet: Wallet | undefined;
  onNewChat: () => void;
}

/** The name, how the server is, what the wallet holds, and the way to another chat. */
export function Masthead({ wallet, onNewChat }: Props) {
  return (
    <header className="masthead">
      <span className="name">
        <Mark />
        adk-stream
      </span>
      <ServerLight />
      <span className="wallet">
        <span className="caption">Wallet</span>
        <output aria-label="Wallet balance">
          {wallet === undefined ? '–' : money(wallet.balance, wallet.currency)}
        </output>
      </span>
      <button type="button" className="new-chat" onClick={onNewChat}>
        <span aria-hidden="true">+</span> <span className="words">New chat</span>
      </button>
    </header>
  );
}
