import { useConnection } from '@adk-stream/client/react';
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { useSetting } from '../app/setting.ts';
import { useWords } from '../language/language.ts';
import { bidi, type TransportName, transportName } from '../server/transport.ts';
import { useServerHealth } from '../server/useServerHealth.ts';

/** Which way messages go, to be changed at any time, and whether that way is open. */
export function TransportSwitch() {
  const words = useWords().transport;
  const name = useSetting(transportName);
  const health = useServerHealth();
  const socket = useConnection(bidi);

  const isSocketShown = name === 'bidi' && health === 'up';
  const state = isSocketShown ? socket : health;
  return (
    <div className="flex items-center gap-2.5">
      <ToggleGroup
        className="switch"
        aria-label={words.label}
        value={[name]}
        onValueChange={value => {
          const [next] = value as TransportName[];
          if (next !== undefined) {
            transportName.set(next);
          }
        }}
      >
        <Toggle value="sse" title={words.sseNote}>
          {words.sse}
        </Toggle>
        <Toggle value="bidi" title={words.bidiNote}>
          {words.bidi}
        </Toggle>
      </ToggleGroup>
      <span className={`light ${state}`} role="status">
        <span className="dot" aria-hidden="true" />
        <span className="max-sm:sr-only">{words[state]}</span>
      </span>
    </div>
  );
}
