import { useWords } from '../language/language.ts';
import { label } from './output.ts';
import { UntrustedText } from './UntrustedText.tsx';

/** The name of a field: as it is, and where the page has one, a word for it beside. */
export function FieldName({ name }: { name: string }) {
  const words = useWords();
  const translated = wordFor(words.fields, name);
  return (
    <>
      {translated !== undefined && `${translated} `}
      <UntrustedText text={label(name)} />
    </>
  );
}

/** Names come from models: `constructor` is a name, and no word. */
export function wordFor(words: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}
