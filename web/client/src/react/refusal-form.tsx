import { type KeyboardEvent, type ReactElement, useState } from 'react';
import { useParts } from './parts-context.tsx';

type Props = {
  labels: { reason: string; now: string; back: string };
  isBusy: boolean;
  /** With a reason, where there is one. */
  onRefuse: (reason: { reason?: string }) => void;
  onBack: () => void;
};

/** A no and why. */
export function RefusalForm({ labels, isBusy, onRefuse, onBack }: Props): ReactElement {
  const { part } = useParts();
  const [reason, setReason] = useState('');
  const refuse = () => {
    const why = reason.trim();
    onRefuse(why === '' ? {} : { reason: why });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      refuse();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      onBack();
    }
  };
  return (
    <div {...part('reason')}>
      <input
        {...part('reason-field')}
        aria-label={labels.reason}
        placeholder={labels.reason}
        value={reason}
        maxLength={500}
        autoComplete="off"
        // biome-ignore lint/a11y/noAutofocus: a no may have a reason
        autoFocus
        onChange={event => setReason(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" {...part('deny-now')} aria-disabled={isBusy} onClick={refuse}>
        {labels.now}
      </button>
      <button type="button" {...part('button')} onClick={onBack}>
        {labels.back}
      </button>
    </div>
  );
}
