import type { ChatRow } from '@adk-stream/client';
import { Archive, ArchiveRestore, MessagesSquare, Pencil, Trash2 } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useContext, useId, useRef, useState } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import { dayOf } from '../language/time.ts';
import { chats } from '../server/transport.ts';
import { useChats } from './useChats.ts';

interface Props {
  /** The chat that is open. */
  chatId: string;
  /** Opens a chat; a new one, where none is named. */
  onOpen: (chatId: string | undefined) => void;
}

/** The heading, which the focus goes to when what had it is gone. */
const HEADING = 'chats-heading';

/** All chats of this person: to open, name, put away, delete and search. */
export function ChatList({ chatId, onOpen }: Props) {
  const words = useWords();
  const [search, setSearch] = useState('');
  const [archived, setArchived] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const list = useChats(search.trim(), archived);

  const act = async (action: () => Promise<void>) => {
    setHasFailed(false);
    await action().catch(() => setHasFailed(true));
  };
  const leave = (id: string) => {
    list.remove(id);
    document.getElementById(HEADING)?.focus();
  };

  return (
    <div className="flex flex-col gap-4">
      <h2 id={HEADING} tabIndex={-1} className="font-display text-lg">
        {words.chats.title}
      </h2>
      <div className="flex flex-col gap-2">
        <input
          type="search"
          className="field"
          aria-label={words.chats.search}
          placeholder={words.chats.search}
          maxLength={200}
          value={search}
          onChange={event => setSearch(event.target.value)}
        />
        <label className="flex items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            checked={archived}
            onChange={event => setArchived(event.target.checked)}
          />
          {words.chats.archived}
        </label>
      </div>
      {(hasFailed || list.hasFailed) && (
        <p role="alert" className="text-sm text-alert">
          {hasFailed ? words.chats.failed : words.chats.error}
        </p>
      )}
      {list.isLoaded && list.chats.length === 0 && (
        <p className="empty-note">
          <MessagesSquare aria-hidden="true" />
          {search.trim() === '' ? words.chats.empty : words.chats.nothing}
        </p>
      )}
      <ul className="flex flex-col gap-1" aria-label={words.chats.title}>
        {list.chats.map(chat => (
          <Row
            key={chat.id}
            chat={chat}
            isOpen={chat.id === chatId}
            onOpen={() => onOpen(chat.id)}
            onRename={title => act(async () => list.put(await chats.update(chat.id, { title })))}
            onArchive={() =>
              act(async () => {
                await chats.update(chat.id, { archived: !chat.archived });
                leave(chat.id);
              })
            }
            onDelete={() =>
              act(async () => {
                await chats.remove(chat.id);
                leave(chat.id);
                if (chat.id === chatId) {
                  onOpen(undefined);
                }
              })
            }
          />
        ))}
      </ul>
      {list.more !== undefined && (
        <button type="button" className="button quiet small" onClick={list.more}>
          {words.chats.more}
        </button>
      )}
    </div>
  );
}

interface RowProps {
  chat: ChatRow;
  isOpen: boolean;
  onOpen: () => void;
  onRename: (title: string) => Promise<void>;
  onArchive: () => Promise<void>;
  onDelete: () => Promise<void>;
}

type Mode = 'shown' | 'renamed' | 'deleted';

function Row({ chat, isOpen, onOpen, onRename, onArchive, onDelete }: RowProps) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const [mode, setMode] = useState<Mode>('shown');
  const wasRenamed = useRef(false);
  const title = chat.title ?? words.chats.untitled;

  const leave = () => {
    wasRenamed.current = true;
    setMode('shown');
  };
  // The focus goes back to where it came from.
  const focusAfterRename = (button: HTMLButtonElement | null) => {
    if (button !== null && wasRenamed.current) {
      wasRenamed.current = false;
      button.focus();
    }
  };

  if (mode === 'renamed') {
    return (
      <li>
        <Rename
          title={chat.title ?? ''}
          onCancel={leave}
          onRename={async name => {
            leave();
            await onRename(name);
          }}
        />
      </li>
    );
  }
  return (
    <li className="flex flex-col gap-1 rounded-md p-2">
      <div className="flex items-start gap-1">
        <button
          type="button"
          className="min-w-0 flex-1 text-left"
          aria-current={isOpen ? 'true' : undefined}
          onClick={onOpen}
        >
          <span className={`block truncate ${isOpen ? 'font-semibold' : ''}`}>{title}</span>
          <span className="block text-sm text-soft">
            {words.chats.status[chat.status]}
            {chat.waiting > 0 && ` · ${words.chats.waiting(chat.waiting)}`}
            {` · ${dayOf(chat.updatedAt, language)}`}
          </span>
        </button>
        <button
          ref={focusAfterRename}
          type="button"
          className="icon-button small"
          aria-label={words.chats.rename(title)}
          onClick={() => setMode('renamed')}
        >
          <Pencil aria-hidden="true" />
        </button>
        <button
          type="button"
          className="icon-button small"
          aria-label={chat.archived ? words.chats.unarchive(title) : words.chats.archive(title)}
          onClick={() => void onArchive()}
        >
          {chat.archived ? <ArchiveRestore aria-hidden="true" /> : <Archive aria-hidden="true" />}
        </button>
        <button
          type="button"
          className="icon-button small"
          aria-label={words.chats.delete(title)}
          aria-expanded={mode === 'deleted'}
          onClick={() => setMode(mode === 'deleted' ? 'shown' : 'deleted')}
        >
          <Trash2 aria-hidden="true" />
        </button>
      </div>
      {mode === 'deleted' && (
        <div role="alert" className="flex flex-wrap items-center gap-2 text-sm">
          <span className="flex-1">{words.chats.confirm}</span>
          <button type="button" className="button quiet small" onClick={() => setMode('shown')}>
            {words.chats.cancel}
          </button>
          <button type="button" className="button small" onClick={() => void onDelete()}>
            {words.chats.confirmed}
          </button>
        </div>
      )}
    </li>
  );
}

interface RenameProps {
  title: string;
  onRename: (title: string) => void;
  onCancel: () => void;
}

function Rename({ title, onRename, onCancel }: RenameProps) {
  const words = useWords();
  const id = useId();
  const [name, setName] = useState(title);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    onRename(name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      // The sheet that it is in stays open.
      event.stopPropagation();
      onCancel();
    }
  };
  return (
    <form className="flex flex-col gap-2 p-2" onSubmit={onSubmit}>
      <label htmlFor={id} className="text-sm text-soft">
        {words.chats.name}
      </label>
      <input
        id={id}
        className="field"
        // biome-ignore lint/a11y/noAutofocus: a person who renames it types next
        autoFocus
        maxLength={200}
        value={name}
        onChange={event => setName(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex gap-2">
        <button type="submit" className="button small">
          {words.chats.save}
        </button>
        <button type="button" className="button quiet small" onClick={onCancel}>
          {words.chats.cancel}
        </button>
      </div>
    </form>
  );
}
