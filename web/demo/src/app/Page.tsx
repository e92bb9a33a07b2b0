import { useApprovals } from '@adk-stream/client/react';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { Chat } from '../chat/Chat.tsx';
import { MESSAGE_FIELD } from '../chat/messageField.ts';
import { ChatList } from '../chats/ChatList.tsx';
import { Inbox } from '../inbox/Inbox.tsx';
import { Journal, JournalContext } from '../journal/journal.ts';
import { Timeline } from '../journal/Timeline.tsx';
import { dictionary, LanguageContext, language } from '../language/language.ts';
import { fetchWithKey, type Info, readInfo } from '../server/api.ts';
import { InfoContext, unknownInfo } from '../server/info.ts';
import { chats } from '../server/transport.ts';
import { CardParts } from '../tools/CardParts.tsx';
import { Announcer } from './announcer.tsx';
import { Boundary } from './Boundary.tsx';
import { KeyDialog } from './KeyDialog.tsx';
import { Masthead } from './Masthead.tsx';
import { Panel, type PanelName, WIDE } from './Panel.tsx';
import { setting, useSetting } from './setting.ts';
import { useChatAddress } from './useChatAddress.ts';
import { useMediaQuery } from './useMediaQuery.ts';
import { useWallet } from './useWallet.ts';

// Not needed until somebody looks back.
const Replay = lazy(() => import('../journal/Replay.tsx').then(it => ({ default: it.Replay })));

/** Which panel is open beside the chat, where there is room for one. */
const chosenPanel = setting<PanelName | 'none'>(
  'panel',
  ['journal', 'inbox', 'chats', 'none'],
  'journal',
);

export function Page() {
  const spoken = useSetting(language);
  const words = dictionary[spoken];
  const { chat, keep, open } = useChatAddress();
  const journal = useMemo(() => new Journal(chat.id), [chat.id]);
  const [keys, setKeys] = useState(0);
  const info = useInfo(keys);
  const wallet = useWallet(journal, keys);
  const inbox = useInbox(journal, keys);
  const isWide = useMediaQuery(WIDE);
  const chosen = useSetting(chosenPanel);
  const [sheet, setSheet] = useState<PanelName>();
  const [replayed, setReplayed] = useState<string>();
  const [entry, setEntry] = useState(0);
  const isReplaying = replayed === chat.id;
  const panel = isWide ? (chosen === 'none' ? undefined : chosen) : sheet;

  useEffect(() => {
    document.documentElement.lang = spoken;
  }, [spoken]);

  const onPanel = useCallback(
    (name: PanelName | undefined) => {
      if (isWide) {
        const next = name === undefined || name === chosenPanel.get() ? 'none' : name;
        chosenPanel.set(next);
      } else {
        setSheet(name);
      }
    },
    [isWide],
  );

  const replay = () => {
    setSheet(undefined);
    setReplayed(chat.id);
  };

  const onOpen = (id: string | undefined) => {
    setSheet(undefined);
    setReplayed(undefined);
    open(id);
  };

  return (
    <LanguageContext value={spoken}>
      <InfoContext value={info}>
        <JournalContext value={journal}>
          <CardParts>
            <div className="page">
              <Masthead
                wallet={wallet}
                waiting={inbox.approvals.length}
                panel={panel}
                onPanel={onPanel}
                onNewChat={() => onOpen(undefined)}
              >
                {!isReplaying && (
                  <a className="skip" href={`#${MESSAGE_FIELD}`} onClick={onSkip}>
                    {words.skip}
                  </a>
                )}
              </Masthead>
              <div className="flex min-h-0 flex-1">
                {isReplaying ? (
                  <Suspense fallback={<main className="flex-1" aria-busy="true" />}>
                    <Replay
                      chatId={chat.id}
                      onEntry={setEntry}
                      onLeave={() => setReplayed(undefined)}
                    />
                  </Suspense>
                ) : (
                  <Chat key={`${chat.id} ${keys}`} address={chat} onFirstMessage={keep} />
                )}
                {panel !== undefined && (
                  <Panel name={panel} onClose={() => onPanel(isWide ? panel : undefined)}>
                    <Boundary
                      of={`${panel} ${chat.id}`}
                      instead={() => <p className="empty-note">{words.unshownPanel}</p>}
                    >
                      {panel === 'journal' && (
                        <Timeline
                          at={isReplaying ? entry : undefined}
                          {...(!isReplaying && { onReplay: replay })}
                        />
                      )}
                      {panel === 'inbox' && (
                        <Inbox inbox={inbox} chatId={chat.id} onOpen={onOpen} />
                      )}
                      {panel === 'chats' && (
                        <ChatList key={keys} chatId={chat.id} onOpen={onOpen} />
                      )}
                    </Boundary>
                  </Panel>
                )}
              </div>
              <KeyDialog onKey={() => setKeys(count => count + 1)} />
              <Announcer />
            </div>
          </CardParts>
        </JournalContext>
      </InfoContext>
    </LanguageContext>
  );
}

const onSkip = (event: { preventDefault: () => void }) => {
  // The address names the chat.
  event.preventDefault();
  document.getElementById(MESSAGE_FIELD)?.focus();
};

/** Who answers; asked again with every key. */
function useInfo(keys: number): Info {
  const [info, setInfo] = useState(unknownInfo);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another question
  useEffect(() => {
    readInfo().then(
      answer => answer !== undefined && setInfo(answer),
      () => undefined,
    );
  }, [keys]);
  return info;
}

/** What waits for this person; looked at again whenever something happens to a chat. */
function useInbox(journal: Journal, keys: number) {
  const inbox = useApprovals({ fetch: fetchWithKey, events: chats.events });
  const { refresh } = inbox;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another inbox
  useEffect(() => {
    void refresh();
    return journal.subscribe(() => void refresh());
  }, [journal, refresh, keys]);
  return inbox;
}
