/** The outcomes of the payments of several people. */
import type { Tally } from './payer.ts';

/** Writes down what was seen, for the log. */
export function tell(what: string, tally: Tally): void {
  process.stdout.write(`${what}: ${JSON.stringify(tally)}\n`);
}

export function sum(tallies: Tally[]): Tally {
  const add = (of: keyof Tally) => tallies.map(tally => tally[of]).reduce((a, b) => a + b, 0);
  return {
    paid: add('paid'),
    denied: add('denied'),
    unknown: add('unknown'),
    reloads: add('reloads'),
  };
}
