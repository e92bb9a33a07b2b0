import type { ReactElement } from 'react';
import { escapeUntrusted } from '../untrusted-text.ts';
import { type DeliveryOptions, useDelivery } from './delivery.ts';
import { useParts } from './parts-context.tsx';

type Props<Answer> = DeliveryOptions<Answer> & {
  toolName: string;
  /** The no that is given. */
  denial: Answer;
};

/** How much of a name is shown that belongs to something which can't be. */
const MAX_NAME = 80;

/** In place of a question that can't be drawn: nobody can say yes to it, and everybody no. */
export function UnshownCard<Answer>(props: Props<Answer>): ReactElement {
  const { toolName, denial } = props;
  const { part, labels, icons } = useParts();
  const { delivery, answer } = useDelivery(props);
  const words = labels.approval;
  const isBusy = delivery.state !== 'open';
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out like this everywhere
    <div
      role="group"
      {...part('card')}
      aria-label={`${escapeUntrusted(toolName.slice(0, MAX_NAME))}: ${words.asked}`}
    >
      <p {...part('unshown')}>{words.unshown}</p>
      <div {...part('actions')}>
        <button
          type="button"
          {...part('deny')}
          aria-disabled={isBusy}
          onClick={() => !isBusy && void answer(denial)}
        >
          {icons.deny}
          {words.deny}
        </button>
      </div>
      <p {...part('status')} role="status">
        {delivery.note ?? ''}
      </p>
    </div>
  );
}
