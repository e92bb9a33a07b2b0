import { type KeyboardEvent, useRef, useState } from 'react';
import { MusicLine } from './MusicLine.tsx';

/** The id of the field, which others may give the focus to. */
export const MESSAGE_FIELD = 'message';

interface Props {
  isBusy: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

/** Where a message is written; while an answer comes, it can be stopped here. */
export function Composer({ isBusy, onSend, onStop }: Props) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);

  const send = () => {
    if (!isBusy && text.trim() !== '') {
      onSend(text.trim());
      setText('');
      field.current?.focus();
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses a word.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
  };

  return (
    <form
      className="composer"
      onSubmit={event => {
        event.preventDefault();
        send();
      }}
    >
      <div className="box">
        <label className="unseen" htmlFor={MESSAGE_FIELD}>
          Message
        </label>
        <textarea
          id={MESSAGE_FIELD}
          ref={field}
          rows={1}
          placeholder="Say something"
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isBusy ? (
          <button type="button" className="stop" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="submit" className="send" disabled={text.trim() === ''}>
            Send
          </button>
        )}
      </div>
      <div className="below">
        <MusicLine />
        <span className="hint">Enter sends, Shift + Enter starts a line</span>
      </div>
    </form>
  );
}
