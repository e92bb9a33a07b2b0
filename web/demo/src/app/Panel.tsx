import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useWords } from '../language/language.ts';
import { Scrolling } from './Scrolling.tsx';
import { useMediaQuery } from './useMediaQuery.ts';

export type PanelName = 'journal' | 'inbox' | 'chats';

interface Props {
  name: PanelName;
  onClose: () => void;
  children: ReactNode;
}

/** What is beside the chat: where there is room, next to it; where there is none, over it. */
export function Panel({ name, onClose, children }: Props) {
  const words = useWords();
  const isWide = useMediaQuery(WIDE);
  const close = (
    <span className="absolute top-3 right-3 z-2">
      {isWide ? (
        <button
          type="button"
          className="icon-button small"
          aria-label={words.close}
          onClick={onClose}
        >
          <X aria-hidden="true" />
        </button>
      ) : (
        <Dialog.Close className="icon-button small" aria-label={words.close}>
          <X aria-hidden="true" />
        </Dialog.Close>
      )}
    </span>
  );
  if (isWide) {
    return (
      <aside className="panel" aria-label={words.panel[name]}>
        {close}
        <Scrolling className="inside" label={words.panel[name]}>
          {children}
        </Scrolling>
      </aside>
    );
  }
  return (
    <Dialog.Root open onOpenChange={isOpen => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="sheet" aria-label={words.panel[name]}>
          {close}
          <Scrolling className="inside" label={words.panel[name]}>
            {children}
          </Scrolling>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export const WIDE = '(min-width: 64rem)';
