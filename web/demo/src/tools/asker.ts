/** Who asks, where agents have others inside. */
import type { Call } from '../journal/entry.ts';
import { escaped } from './spoofing.ts';

/** The agents from the first to the one that made a call, as the journal has them. */
export function pathOf(call: Call | undefined): string[] {
  const path = call?.providerMetadata?.adkStream?.path;
  return Array.isArray(path) ? path.filter(name => typeof name === 'string') : [];
}

/** Who asks: `root › payments`, or the server's name for the agent where there is no path. */
export function askerOf(path: readonly string[] | undefined, agent: string): string {
  return path === undefined || path.length === 0 ? agent : path.map(escaped).join(' › ');
}
