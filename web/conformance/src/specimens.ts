/** Runs the Rust binary that prints what our own code makes, one JSON value a line. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './corpus.ts';

const binary =
  process.env.ADK_STREAM_SPECIMENS ?? join(projectRoot, 'target', 'debug', 'specimens');

/** Never skips: a conformance test that could not compare anything has not passed. */
export function specimensBinary(): string {
  if (!existsSync(binary)) {
    throw new Error(
      `${binary} is missing. Build it with \`cargo build -p adk-stream-testkit\`, or say where it is in ADK_STREAM_SPECIMENS.`,
    );
  }
  return binary;
}

export function specimens<T>(...args: string[]): T[] {
  const lines = execFileSync(specimensBinary(), args, {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
    .split('\n')
    .filter(line => line !== '');
  if (lines.length === 0) {
    throw new Error(`specimens ${args.join(' ')} printed nothing`);
  }
  return lines.map(line => JSON.parse(line) as T);
}
