import { Download, History, NotebookPen } from 'lucide-react';
import { memo, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { Boundary } from '../app/Boundary.tsx';
import { RawJson } from '../app/Raw.tsx';
import { LanguageContext, useWords } from '../language/language.ts';
import { timeOf } from '../language/time.ts';
import { InfoContext } from '../server/info.ts';
import { escaped } from '../tools/spoofing.ts';
import type { Entry, Gate } from './entry.ts';
import { JournalContext, useJournal } from './journal.ts';
import { type Known, lines } from './timelineLines.ts';

interface Props {
  /** The entry that a replay has come to. */
  at?: number | undefined;
  onReplay?: () => void;
}

/** A chat's journal: who said, decided and ran what, and when. */
export function Timeline({ at, onReplay }: Props) {
  const words = useWords();
  const { chatId } = useContext(JournalContext);
  const { agent } = useContext(InfoContext);
  const { entries, calls, questions } = useJournal();
  const end = useRef<HTMLDivElement>(null);

  const known = useMemo(() => {
    const all = [...questions.values()].flat();
    const gates = new Map<string, Gate>(all.map(({ gate }) => [gate.id, gate]));
    return { calls, gates, agent, words: words.journal, fields: words.fields };
  }, [calls, questions, agent, words]);

  const last = entries.at(-1)?.seq;
  useEffect(() => {
    if (at === undefined && last !== undefined) {
      end.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [at, last]);

  if (entries.length === 0) {
    return (
      <>
        <h2 className="font-display text-lg">{words.journal.title}</h2>
        <p className="empty-note mt-4">
          <NotebookPen aria-hidden="true" />
          {words.journal.empty}
        </p>
      </>
    );
  }
  return (
    <>
      <div className="panel-head">
        <h2 className="font-display text-lg">{words.journal.title}</h2>
        <div className="mt-2 flex flex-wrap gap-2">
          {onReplay !== undefined && (
            <button type="button" className="button small" onClick={onReplay}>
              <History aria-hidden="true" />
              {words.journal.replay}
            </button>
          )}
          <button type="button" className="button small" onClick={() => save(chatId, entries)}>
            <Download aria-hidden="true" />
            {words.journal.export}
          </button>
        </div>
      </div>
      <ol className="timeline" aria-label={words.journal.title}>
        {entries.map(entry => (
          // One that can't be drawn takes no other with it.
          <Boundary key={entry.seq} of={entry} instead={() => <li>{words.unshown}</li>}>
            <EntryView
              entry={entry}
              known={known}
              place={at === undefined ? 'past' : placeOf(entry.seq, at)}
            />
          </Boundary>
        ))}
      </ol>
      <div ref={end} />
    </>
  );
}

type Place = 'past' | 'now' | 'future';

function placeOf(seq: number, at: number): Place {
  return seq === at ? 'now' : seq < at ? 'past' : 'future';
}

interface EntryProps {
  entry: Entry;
  known: Known;
  place: Place;
}

const EntryView = memo(function EntryView({ entry, known, place }: EntryProps) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const row = useRef<HTMLLIElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const isNow = place === 'now';

  useEffect(() => {
    if (isNow) {
      row.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [isNow]);

  return (
    <li ref={row} className={place} aria-current={isNow ? 'step' : undefined}>
      <div className="stub">
        <time dateTime={new Date(entry.at).toISOString()}>{timeOf(entry.at, language)}</time>
        <span aria-hidden="true">{entry.seq}</span>
      </div>
      <div className="min-w-0">
        {lines(entry, known).map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what is in the journal stays as it is
          <div key={index} className={`line ${line.kind}`}>
            <p>
              {line.who !== '' && <span className="who">{escaped(line.who)} </span>}
              {escaped(line.what)}
            </p>
            {line.detail !== undefined && line.detail !== '' && (
              <p className="detail">{escaped(line.detail)}</p>
            )}
          </div>
        ))}
        <details onToggle={event => setIsOpen(event.currentTarget.open)}>
          <summary title={words.journal.raw}>JSON</summary>
          {isOpen && <RawJson value={entry.events} />}
        </details>
      </div>
    </li>
  );
});

/** Downloads the journal. */
function save(chatId: string, entries: readonly Entry[]): void {
  const text = JSON.stringify({ chat: chatId, entries }, null, 2);
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `journal-${chatId}.json`;
  link.click();
  URL.revokeObjectURL(address);
}
