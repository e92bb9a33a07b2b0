/** A word of the page's for the name of a field. Names come from models: `constructor` is a name, and no word. */
export function wordFor(words: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}
