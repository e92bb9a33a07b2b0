import type { FileUIPart } from 'ai';
import { ChevronLeft, ChevronRight, Mic, PencilLine } from 'lucide-react';
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react';
import { useWords } from '../language/language.ts';
import type { Message } from '../server/api.ts';
import type { Versions } from './branches.ts';
import { FileView } from './FileView.tsx';

/** What a person can do with what they said. */
export interface Rewriting {
  versions: ReadonlyMap<string, Versions>;
  /** Whether the chat can go to another version: no turn of it is open. */
  isReady: boolean;
  /** Says something in the place of a message. */
  onRewrite: (message: Message, text: string) => void;
  /** Goes to the version that a message is in. */
  onVersion: (messageId: string) => void;
}

export const RewritingContext = createContext<Rewriting>({
  versions: new Map(),
  isReady: false,
  onRewrite: () => undefined,
  onVersion: () => undefined,
});

/** What a person said, its other versions, and a way to say it differently. */
export function UserMessage({ message }: { message: Message }) {
  const words = useWords();
  const { versions, isReady, onRewrite, onVersion } = useContext(RewritingContext);
  const [isWriting, setIsWriting] = useState(false);
  const shown = versions.get(message.id);
  const text = textOf(message);
  return (
    <article className="message user" aria-label={words.you}>
      {isWriting ? (
        <Rewrite
          text={text}
          onCancel={() => setIsWriting(false)}
          onSend={next => {
            setIsWriting(false);
            onRewrite(message, next);
          }}
        />
      ) : (
        <Said message={message} />
      )}
      {!isWriting && (text !== '' || shown !== undefined) && (
        <div className="versions">
          {text !== '' && (
            <button
              type="button"
              // It keeps its place while an answer comes, so that nothing jumps when it is there again.
              className={`icon-button small ${isReady ? '' : 'invisible'}`}
              aria-label={words.versions.rewrite}
              title={words.versions.rewrite}
              onClick={() => setIsWriting(true)}
            >
              <PencilLine aria-hidden="true" />
            </button>
          )}
          {shown !== undefined && (
            <VersionPicker versions={shown} isReady={isReady} onVersion={onVersion} />
          )}
        </div>
      )}
    </article>
  );
}

/** A message that waits for the agent, or that it was given in the middle of its answer. */
export function Said({ message, children }: { message: Message; children?: ReactNode }) {
  const words = useWords();
  const files = message.parts.filter((part): part is FileUIPart => part.type === 'file');
  const text = textOf(message);
  const isSpoken = message.parts.some(part => part.type === 'data-speech');
  return (
    <>
      {files.length > 0 && (
        <div className="mb-2 flex flex-wrap justify-end gap-2">
          {files.map(file => (
            <FileView key={file.url} file={file} />
          ))}
        </div>
      )}
      {text !== '' && <p className="bubble">{text}</p>}
      {isSpoken && (
        <p className="bubble inline-flex items-center gap-2">
          <Mic aria-hidden="true" className="size-4" />
          {words.speech.spoken}
        </p>
      )}
      {children}
    </>
  );
}

interface RewriteProps {
  text: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}

function Rewrite({ text, onSend, onCancel }: RewriteProps) {
  const words = useWords();
  const [next, setNext] = useState(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (next.trim() !== '') {
      onSend(next.trim());
    }
  };
  return (
    <form className="rewrite" onSubmit={submit}>
      <textarea
        className="field"
        aria-label={words.versions.field}
        value={next}
        // Somebody has just asked for it.
        ref={field => field?.focus()}
        onChange={event => setNext(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            onCancel();
          } else if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            submit(event);
          }
        }}
      />
      <div className="flex justify-end gap-2">
        <button type="button" className="button quiet small" onClick={onCancel}>
          {words.versions.cancel}
        </button>
        <button type="submit" className="button primary small" disabled={next.trim() === ''}>
          {words.versions.send}
        </button>
      </div>
    </form>
  );
}

interface PickerProps {
  versions: Versions;
  isReady: boolean;
  onVersion: (messageId: string) => void;
}

/** Which version is shown, and ways to the one before and the one after it. */
function VersionPicker({ versions, isReady, onVersion }: PickerProps) {
  const words = useWords().versions;
  const { place, count, previous, next } = versions;
  const way = (name: string, to: string | undefined, icon: ReactNode) => (
    <button
      type="button"
      className="icon-button small"
      aria-label={name}
      title={name}
      disabled={!isReady || to === undefined}
      onClick={() => to !== undefined && onVersion(to)}
    >
      {icon}
    </button>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div className="flex items-center" role="group" aria-label={words.label}>
      {way(words.previous, previous, <ChevronLeft aria-hidden="true" />)}
      <span className="tabular-nums">{words.place(place, count)}</span>
      {way(words.next, next, <ChevronRight aria-hidden="true" />)}
    </div>
  );
}

function textOf({ parts }: Message): string {
  return parts.map(part => (part.type === 'text' ? part.text : '')).join('');
}
