/** Starts the real binary on a free port, and ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

const binary = resolve(projectRoot, process.env.ADK_STREAM_BIN ?? 'target/debug/adk-stream');

export class Server {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  /** `pace` is the pause between the demo's words, in milliseconds. */
  static async start({ pace = 2 } = {}): Promise<Server> {
    // In an empty folder and without our variables, so that nobody's configuration has a say.
    const folder = mkdtempSync(join(tmpdir(), 'adk-stream-'));
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('ADK_STREAM_')),
    );
    const options = ['--listen', '127.0.0.1:0', '--store', 'memory', '--pace', String(pace)];
    const child = spawn(binary, ['serve', ...options], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // Without a listener, a binary that is missing would end the whole test run.
    const failed = once(child, 'error').then(([error]) => Promise.reject(error));
    const listening = (async () => {
      for await (const line of createInterface({ input: child.stdout })) {
        const url = /^listening on (http:\S+)$/.exec(line)?.[1];
        if (url !== undefined) {
          return url;
        }
      }
      throw new Error(`${binary} ended before it listened`);
    })();
    return new Server(child, folder, await Promise.race([listening, failed]));
  }

  /** Approves the approval that waits longest, as somebody does who is not at the page. */
  async approveWhatWaits(): Promise<void> {
    const { approvals } = await (await fetch(`${this.url}/api/approvals`)).json();
    await fetch(`${this.url}/api/approvals/${approvals[0].approvalId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ approved: true }),
    });
  }

  /** Ends it as an operator would, and says its exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
    return this.child.exitCode;
  }
}
