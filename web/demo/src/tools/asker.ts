/** Who asks, where agents have others inside. */
import type { Call } from '../journal/entry.ts';

/** The agents from the first to the one that made a call, as the journal has them. */
export function pathOf(call: Call | undefined): string[] {
  const path = call?.providerMetadata?.adkStream?.path;
  return Array.isArray(path) ? path.filter(name => typeof name === 'string') : [];
}
