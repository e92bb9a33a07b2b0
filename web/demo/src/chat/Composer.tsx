import { ConsentButton } from '@adk-stream/client/react/parts';
import type { FileUIPart } from 'ai';
import { ArrowUp, Clock, Paperclip, Square, X } from 'lucide-react';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useRef,
  useState,
} from 'react';
import { useWords } from '../language/language.ts';
import { MusicLine } from '../music/MusicLine.tsx';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { attach, MOST_FILES, TooLarge } from './attachments.ts';
import { MESSAGE_FIELD } from './messageField.ts';
import { TransportSwitch } from './TransportSwitch.tsx';
import { WhileRunningSwitch } from './WhileRunningSwitch.tsx';

interface Props {
  isBusy: boolean;
  /** Whether the voice of an answer is playing, which may be long after the answer has ended. */
  isSpeaking: boolean;
  /** Whether a question is open, which a new message would answer with no. */
  isAsking: boolean;
  onSend: (text: string, files: FileUIPart[]) => void;
  /** Sends what the agent is to get later; throws where it can't wait. */
  onEnqueue: (text: string, files: FileUIPart[]) => Promise<void>;
  onStop: () => void;
  /** The microphone button, where the agent takes audio. */
  microphone: ReactNode;
}

/** Where a message is written; while an answer comes, it can be stopped here. */
export function Composer({
  isBusy,
  isSpeaking,
  isAsking,
  onSend,
  onEnqueue,
  onStop,
  microphone,
}: Props) {
  const words = useWords();
  const [text, setText] = useState('');
  const [files, setFiles] = useState<FileUIPart[]>([]);
  const [problem, setProblem] = useState<string>();
  const [isOver, setIsOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isEmpty = text.trim() === '' && files.length === 0;
  // What is sent while a question is open answers it with no.
  const denies = isAsking && !isEmpty;
  const [isWarned, setIsWarned] = useState(false);
  const [isSending, setIsSending] = useState(false);
  if (isWarned && !denies) {
    setIsWarned(false);
  }

  const canWait = (isBusy || isAsking) && !isEmpty;

  const clear = () => {
    setIsWarned(false);
    setText('');
    setFiles([]);
    setProblem(undefined);
    field.current?.focus();
  };

  const send = () => {
    if (!isBusy && !isEmpty) {
      onSend(text.trim(), files);
      clear();
    }
  };

  const enqueue = async () => {
    if (!canWait || isSending) {
      return;
    }
    setIsSending(true);
    try {
      await onEnqueue(text.trim(), files);
      clear();
    } catch (error) {
      setProblem(words.queue.refused(problemWords(problemOf(error), words.problem)));
    } finally {
      setIsSending(false);
    }
  };

  const add = async (list: Iterable<File>) => {
    setProblem(undefined);
    const added: FileUIPart[] = [];
    for (const file of list) {
      try {
        added.push(await attach(file));
      } catch (error) {
        setProblem(
          error instanceof TooLarge
            ? words.composer.tooLarge(file.name)
            : `${file.name}: ${(error as Error).message}`,
        );
      }
    }
    setFiles(before => {
      const all = [...before, ...added];
      if (all.length > MOST_FILES) {
        setProblem(words.composer.tooMany);
      }
      return all.slice(0, MOST_FILES);
    });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses a word.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      // The question may have come up while this was written: the first Enter says so.
      if (isBusy) {
        void enqueue();
      } else if (denies && (!isWarned || event.repeat)) {
        setIsWarned(true);
      } else {
        send();
      }
    }
  };

  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length > 0) {
      event.preventDefault();
      void add([...event.clipboardData.files]);
    }
  };

  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    void add([...event.dataTransfer.files]);
  };

  return (
    <form
      className="composer"
      onSubmit={event => {
        event.preventDefault();
        // With a question open, sending is a no to it, which has a button of its own.
        if (isBusy) {
          void enqueue();
        } else if (!denies) {
          send();
        }
      }}
      onDragOver={event => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <div className={isOver ? 'box over' : 'box'}>
        {files.length > 0 && (
          <ul className="flex flex-wrap gap-2 px-1 pt-1 pb-2">
            {files.map((file, index) => (
              <Attached
                key={file.url}
                file={file}
                onRemove={() => setFiles(files.filter((_, other) => other !== index))}
              />
            ))}
          </ul>
        )}
        <div className="flex items-end gap-1">
          <button
            type="button"
            className="icon-button"
            aria-label={words.composer.attach}
            onClick={() => picker.current?.click()}
          >
            <Paperclip aria-hidden="true" />
          </button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={words.composer.attach}
            onChange={event => {
              void add([...(event.target.files ?? [])]);
              event.target.value = '';
            }}
          />
          <label className="sr-only" htmlFor={MESSAGE_FIELD}>
            {words.composer.field}
          </label>
          <textarea
            id={MESSAGE_FIELD}
            ref={field}
            rows={1}
            placeholder={isOver ? words.composer.drop : words.composer.placeholder}
            value={text}
            onChange={event => setText(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
          />
          {microphone}
          {canWait && (
            <button
              type="button"
              className="icon-button round"
              aria-label={words.queue.send}
              title={words.queue.send}
              disabled={isSending}
              onClick={() => void enqueue()}
            >
              <Clock aria-hidden="true" />
            </button>
          )}
          {!isBusy &&
            (denies ? (
              // It takes the place of the button that sends, maybe under a finger: a press on it counts as
              // one on a card does.
              <ConsentButton
                className="button danger"
                isReady
                shown="composer"
                onConsent={send}
                onTooSoon={() => setIsWarned(false)}
              >
                {words.composer.denyAndSend}
              </ConsentButton>
            ) : (
              <button
                type="submit"
                className="icon-button round send"
                aria-label={words.composer.send}
                disabled={isEmpty}
              >
                <ArrowUp aria-hidden="true" />
              </button>
            ))}
          {/* Last, so that it does not move under a finger when the answer ends and its voice plays on. */}
          {(isBusy || isSpeaking) && (
            <button
              type="button"
              className="icon-button round stop"
              aria-label={words.composer.stop}
              onClick={onStop}
            >
              <Square aria-hidden="true" fill="currentColor" />
            </button>
          )}
        </div>
      </div>
      <p
        className={`min-h-5 px-1 text-sm empty:hidden ${isWarned ? 'text-alert' : 'text-soft'}`}
        role="status"
      >
        {problem ?? (isWarned ? words.composer.enterAgain : denies ? words.composer.typedOver : '')}
      </p>
      {canWait && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-1 text-sm text-soft">
          {words.queue.choice}
          <WhileRunningSwitch />
        </div>
      )}
      <div className="beside-a-question">
        <div className="flex min-h-9 items-center justify-between gap-3">
          <TransportSwitch />
          <MusicLine />
        </div>
      </div>
    </form>
  );
}

function Attached({ file, onRemove }: { file: FileUIPart; onRemove: () => void }) {
  const words = useWords();
  const name = file.filename ?? words.file;
  return (
    <li className="relative flex items-center gap-2 rounded-lg border border-line bg-paper p-1 pr-8 text-sm">
      {file.mediaType.startsWith('image/') ? (
        <img src={file.url} alt="" className="size-10 rounded object-cover" />
      ) : (
        <span className="grid size-10 place-items-center text-xs text-soft">
          {name.split('.').at(-1)}
        </span>
      )}
      <span className="max-w-40 truncate">{name}</span>
      <button
        type="button"
        className="icon-button small absolute top-1/2 right-0.5 -translate-y-1/2"
        aria-label={words.composer.remove(name)}
        onClick={onRemove}
      >
        <X aria-hidden="true" />
      </button>
    </li>
  );
}
