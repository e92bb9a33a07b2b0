import type { WhileRunning } from '@adk-stream/client';
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { setting, useSetting } from '../app/setting.ts';
import { useWords } from '../language/language.ts';

/** When the agent gets what is said while a turn is open. */
export const whileRunning = setting<WhileRunning>('while-running', ['queue', 'inject'], 'queue');

export function WhileRunningSwitch() {
  const words = useWords().queue;
  const chosen = useSetting(whileRunning);
  return (
    <ToggleGroup
      className="switch"
      aria-label={words.choice}
      value={[chosen]}
      onValueChange={value => {
        const [next] = value as WhileRunning[];
        if (next !== undefined) {
          whileRunning.set(next);
        }
      }}
    >
      <Toggle value="queue">{words.queue}</Toggle>
      <Toggle value="inject">{words.inject}</Toggle>
    </ToggleGroup>
  );
}
