import type { ReactElement } from 'react';
import type { PartLabels } from './labels.ts';
import { useParts } from './parts-context.tsx';

export type ConnectionStatusProps = {
  /** Of the server, as `useServerState` has it, or of a socket, as `useConnection` has it. */
  state: keyof PartLabels['connection'];
};

/** A light and its meaning, for people who see it and for screen readers. `data-state` has the state. */
export function ConnectionStatus({ state }: ConnectionStatusProps): ReactElement {
  const { part, labels } = useParts();
  return (
    <span {...part('connection')} data-state={state} role="status">
      <span {...part('connection-dot')} aria-hidden="true" />
      <span {...part('connection-text')}>{labels.connection[state]}</span>
    </span>
  );
}
