import { Popover } from '@base-ui/react/popover';
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { Settings2 } from 'lucide-react';
import { useContext } from 'react';
import { type Language, language, useWords } from '../language/language.ts';
import { InfoContext } from '../server/info.ts';
import { type Setting, useSetting } from './setting.ts';
import { applyTheme, theme } from './theme.ts';

/** The page's language and its colours. */
export function Settings() {
  const words = useWords();
  const { agent, principal } = useContext(InfoContext);
  return (
    <Popover.Root>
      <Popover.Trigger className="icon-button" aria-label={words.settings}>
        <Settings2 aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={8} align="end" className="z-20">
          <Popover.Popup className="popup" aria-label={words.settings}>
            <Choice<Language>
              label={words.language}
              of={language}
              choices={[
                ['en', 'English'],
                ['ja', '日本語'],
              ]}
            />
            <Choice
              label={words.theme.label}
              of={theme}
              choices={[
                ['system', words.theme.system],
                ['light', words.theme.light],
                ['dark', words.theme.dark],
              ]}
              onChange={applyTheme}
            />
            {principal !== '' && (
              <p className="text-sm text-soft">{words.served(agent, principal)}</p>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  of: Setting<T>;
  choices: [T, string][];
  onChange?: () => void;
}

function Choice<T extends string>({ label, of, choices, onChange }: ChoiceProps<T>) {
  const value = useSetting(of);
  return (
    <div>
      <p className="mb-1 text-sm text-soft">{label}</p>
      <ToggleGroup
        className="switch"
        aria-label={label}
        value={[value]}
        onValueChange={next => {
          const [chosen] = next as T[];
          if (chosen !== undefined) {
            of.set(chosen);
            onChange?.();
          }
        }}
      >
        {choices.map(([name, text]) => (
          <Toggle key={name} value={name}>
            {text}
          </Toggle>
        ))}
      </ToggleGroup>
    </div>
  );
}
