/** A real PostgreSQL of a test's own, as `crates/testkit` starts them, and what can befall it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

const database = 'chats';

export class Postgres {
  readonly #folder: string;
  readonly #port: number;
  #postmaster: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  static async start(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'adk-stream-postgres-'));
    chmodSync(folder, 0o755);
    own(folder);
    const [command = '', ...user] = asUser();
    const options = ['--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8'];
    const data = ['--locale=C', '--pgdata', join(folder, 'data')];
    execFileSync(command, [...user, program('initdb'), ...options, ...data], { cwd: folder });
    const postgres = new Postgres(folder, await freePort());
    await postgres.#launch();
    postgres.sql(`CREATE DATABASE ${database}`, 'postgres');
    return postgres;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
  }

  /** Runs SQL as the superuser, and returns what it prints. */
  sql(sql: string, where = database): string {
    const port = String(this.#port);
    const to = ['-h', this.#folder, '-p', port, '-U', 'postgres', '-d', where];
    return execFileSync(program('psql'), ['-XqtA', ...to, '-c', sql], { encoding: 'utf8' });
  }

  /** Ends it at once, with nothing said to anybody, and starts it again. */
  async restart(): Promise<void> {
    await this.#end();
    await this.#launch();
  }

  /** Ends all connections, in the middle of whatever they do. */
  cut(): void {
    const others = 'pid <> pg_backend_pid() AND datname = current_database()';
    this.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
  }

  /** Freezes it and all its processes while something is done. */
  async frozen(meanwhile: () => Promise<void>): Promise<void> {
    const postmaster = this.#postmaster?.pid ?? 0;
    // First the one that could start more of them.
    process.kill(postmaster, 'SIGSTOP');
    const others = children(postmaster);
    others.forEach(pid => {
      process.kill(pid, 'SIGSTOP');
    });
    try {
      await meanwhile();
    } finally {
      [...others, postmaster].forEach(pid => {
        process.kill(pid, 'SIGCONT');
      });
    }
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #launch(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a');
    const data = join(this.#folder, 'data');
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${this.#port}`,
      `unix_socket_directories=${this.#folder}`,
    ].flatMap(setting => ['-c', setting]);
    const [command = '', ...user] = asUser();
    this.#postmaster = spawn(command, [...user, program('postgres'), '-D', data, ...settings], {
      cwd: this.#folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await until('PostgreSQL is ready', () => {
      try {
        const status = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
        return status[0] === String(this.#postmaster?.pid) && status[7]?.trim() === 'ready';
      } catch {
        return false;
      }
    });
  }

  async #end(): Promise<void> {
    const postmaster = this.#postmaster;
    this.#postmaster = undefined;
    if (postmaster?.exitCode === null) {
      const ended = once(postmaster, 'exit');
      postmaster.kill('SIGQUIT');
      await ended;
    }
  }
}

/** What is before a command so that it is run by somebody who is not root, and ends with us. */
function asUser(): string[] {
  const guard = ['setpriv', '--pdeathsig=QUIT'];
  const user = standIn();
  return user === undefined
    ? guard
    : [...guard, `--reuid=${user.id}`, `--regid=${user.group}`, '--clear-groups'];
}

/** Who is to run PostgreSQL where we are root. */
function standIn(): { id: string; group: string } | undefined {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'));
  const found = ['postgres', 'nobody'].flatMap(name => users.filter(([user]) => user === name))[0];
  return { id: found?.[2] ?? '65534', group: found?.[3] ?? '65534' };
}

function own(folder: string): void {
  const user = standIn();
  if (user !== undefined) {
    execFileSync('chown', ['-R', `${user.id}:${user.group}`, folder]);
  }
}

/** Where Debian keeps the servers, off PATH; the newest, if there are several. */
function program(name: string): string {
  const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a));
  return join('/usr/lib/postgresql', versions[0] ?? '', 'bin', name);
}

function children(parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        return new RegExp(`^PPid:\\s+${parent}$`, 'm').test(
          readFileSync(join('/proc', pid, 'status'), 'utf8'),
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
