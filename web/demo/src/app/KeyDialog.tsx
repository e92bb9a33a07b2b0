import { Dialog } from '@base-ui/react/dialog';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useState, useSyncExternalStore } from 'react';
import { useWords } from '../language/language.ts';
import { giveKey, keyState, subscribeToKey } from '../server/key.ts';

interface Props {
  /** A key was given: everything is to be asked again. */
  onKey: () => void;
}

/** Asks for the key that the server wants, where it wants one. */
export function KeyDialog({ onKey }: Props) {
  const words = useWords().key;
  const { isWanted, isRefused } = useSyncExternalStore(subscribeToKey, keyState);
  const [key, setKey] = useState('');

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== '') {
      giveKey(key.trim());
      setKey('');
      onKey();
    }
  };

  return (
    <Dialog.Root open={isWanted}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="popup centred">
          <Dialog.Title className="flex items-center gap-2 font-display text-xl">
            <KeyRound aria-hidden="true" className="size-5" />
            {words.title}
          </Dialog.Title>
          <Dialog.Description className="text-sm text-soft">{words.text}</Dialog.Description>
          <form className="flex flex-col gap-3" onSubmit={submit}>
            <label className="flex flex-col gap-1 text-sm">
              {words.field}
              <input
                className="field"
                type="password"
                value={key}
                autoComplete="off"
                onChange={event => setKey(event.target.value)}
              />
            </label>
            {isRefused && (
              <p role="alert" className="text-sm text-alert">
                {words.refused}
              </p>
            )}
            <button type="submit" className="button primary self-start">
              {words.use}
            </button>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
