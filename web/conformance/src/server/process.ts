/** A program that the tests start, wait for and end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { projectRoot } from '../corpus.ts';

/** The real binary. */
export const binary = resolve(
  projectRoot,
  process.env.ADK_STREAM_BINARY ?? 'target/debug/adk-stream',
);

/** The Gemini emulator, which is built beside it. */
const emulator = join(dirname(binary), 'gemini-emulator');

/**
 * Python keeps what it has compiled, whatever the machine says, and not beside the sources: every start
 * would else compile the whole framework again.
 */
export const bytecodeCache = {
  PYTHONDONTWRITEBYTECODE: '',
  PYTHONPYCACHEPREFIX: join(projectRoot, 'target', 'pycache'),
};

/** How both say where they listen, and servers that are built on the library. */
export const listening = /^listening on (http:\S+)$/;

export type Running = { child: ChildProcess; complaints: string[]; url: string };

export type Program = {
  command: string;
  args: string[];
  cwd: string;
  variables: Record<string, string>;
  /** How it says where it listens. */
  listening: RegExp;
};

/** Starts the binary, and waits until it listens. */
export function launch(
  args: string[],
  cwd: string,
  variables: Record<string, string>,
): Promise<Running> {
  return launchProgram({ command: binary, args, cwd, variables, listening });
}

/** Starts a Gemini emulator on a free port, and waits until it listens. */
export function launchEmulator(flags: string[], cwd: string): Promise<Running> {
  const args = ['--listen', '127.0.0.1:0', ...flags];
  return launchProgram({ command: emulator, args, cwd, variables: {}, listening });
}

/** Starts a program, and waits until it listens. */
export async function launchProgram(program: Program): Promise<Running> {
  const { command, args, cwd, variables, listening } = program;
  // In a folder of its own and without our variables, so that nobody's configuration has a say.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^ADK_STREAM_|^(GEMINI|GOOGLE|OPENAI|ANTHROPIC|LITELLM)_/.test(name),
    ),
  );
  const child = spawn(command, args, {
    cwd,
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test run that is cut short must not leave servers behind.
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));

  const complaints: string[] = [];
  // Without a listener, a program that is missing would end the whole test run.
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const announced = new Promise<string>((resolve, reject) => {
    const listen = (output: Readable, keep: (line: string) => void) =>
      createInterface({ input: output }).on('line', line => {
        keep(line);
        const url = listening.exec(line)?.[1];
        if (url !== undefined) {
          resolve(url);
        }
      });
    listen(child.stdout, () => {});
    listen(child.stderr, line => complaints.push(line));
    child.once('close', () =>
      reject(new Error(`${command} ended before it listened, saying:\n${complaints.join('\n')}`)),
    );
  });
  return { child, complaints, url: await Promise.race([announced, failed]) };
}

export async function end(running: Running | undefined, signal: NodeJS.Signals): Promise<void> {
  if (running?.child.exitCode === null && running.child.signalCode === null) {
    const ended = once(running.child, 'exit');
    running.child.kill(signal);
    await ended;
  }
}

/** Throws if a program did not end well, or had panicked before. */
export function expectEndedWell({ child, complaints }: Running): void {
  if (child.exitCode !== 0 || complaints.some(line => /panicked/.test(line))) {
    throw new Error(`it ended with ${child.exitCode}, saying:\n${complaints.join('\n')}`);
  }
}
