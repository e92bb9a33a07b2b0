import { Inbox, MessagesSquare, NotebookText, Plus } from 'lucide-react';
import { type ReactNode, useContext } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import type { Wallet } from '../server/api.ts';
import { money } from '../tools/intent.ts';
import { Mark } from './Mark.tsx';
import type { PanelName } from './Panel.tsx';
import { Settings } from './Settings.tsx';

interface Props {
  /** Nothing while it is not known; only the demo has one. */
  wallet: Wallet | 'none' | undefined;
  waiting: number;
  panel: PanelName | undefined;
  onPanel: (panel: PanelName) => void;
  onNewChat: () => void;
  /** What comes before everything. */
  children: ReactNode;
}

/** The name, what the wallet holds, what waits, and the ways to everything else. */
export function Masthead({ wallet, waiting, panel, onPanel, onNewChat, children }: Props) {
  const words = useWords();
  const language = useContext(LanguageContext);
  return (
    <header className="masthead">
      {children}
      <span className="name">
        <Mark />
        <span className="max-[26rem]:sr-only">adk-stream</span>
      </span>
      {wallet !== 'none' && (
        <span className="wallet">
          <span className="max-sm:sr-only">{words.wallet}</span>
          <output aria-label={words.walletBalance} className="tabular-nums">
            {wallet === undefined ? '–' : money(String(wallet.balance), wallet.currency, language)}
          </output>
        </span>
      )}
      <button
        type="button"
        className="icon-button"
        aria-label={words.panel.chats}
        aria-pressed={panel === 'chats'}
        onClick={() => onPanel('chats')}
      >
        <MessagesSquare aria-hidden="true" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={words.inbox.count(waiting)}
        aria-pressed={panel === 'inbox'}
        onClick={() => onPanel('inbox')}
      >
        <Inbox aria-hidden="true" />
        {waiting > 0 && (
          <span className="badge" aria-hidden="true">
            {waiting}
          </span>
        )}
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={words.panel.journal}
        aria-pressed={panel === 'journal'}
        onClick={() => onPanel('journal')}
      >
        <NotebookText aria-hidden="true" />
      </button>
      <Settings />
      <button type="button" className="button" onClick={onNewChat} aria-label={words.newChat}>
        <Plus aria-hidden="true" />
        <span className="max-sm:hidden">{words.newChat}</span>
      </button>
    </header>
  );
}
