/** Our own checker, the one in Rust, on what a real client was sent. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { specimensBinary } from '../specimens.ts';
import type { CheckRequest } from './script.ts';

export type Finding = { kind: string; reason: string; window: number; chunk: number };

/** What it found, and how many requests it would have sent by itself or because a person spoke. */
export type Check = { findings: Finding[]; requests: number };

export async function check(requests: CheckRequest[]): Promise<Check[]> {
  const child = spawn(specimensBinary(), ['check'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const exit = new Promise<number | null>(resolve => child.once('close', resolve));
  // One that ends without reading breaks the pipe; its exit code says more.
  child.stdin.on('error', () => {});
  child.stdin.end(requests.map(request => `${JSON.stringify(request)}\n`).join(''));
  const [out, complaint, code] = await Promise.race([
    Promise.all([text(child.stdout), text(child.stderr), exit]),
    failed,
  ]);
  if (code !== 0) {
    throw new Error(`specimens check ended with ${code}: ${complaint}`);
  }
  const lines = out.split('\n').filter(line => line !== '');
  if (lines.length !== requests.length) {
    throw new Error(`specimens check answered ${lines.length} of ${requests.length} sessions`);
  }
  return lines.map(line => JSON.parse(line) as Check);
}
