/** The package as it is published. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const compiler = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
const built = mkdtempSync(join(tmpdir(), 'adk-stream-client-'));

beforeAll(() => {
  execFileSync(compiler, ['-p', 'tsconfig.build.json', '--outDir', built], { cwd: root });
});

afterAll(() => {
  rmSync(built, { recursive: true, force: true });
});

const files = () =>
  readdirSync(built, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.js'));

const imports = (file: string) =>
  [...readFileSync(join(built, file), 'utf8').matchAll(/from '([^']+)'/g)].map(
    ([, name = '']) => name,
  );

test('needs nothing but its peers, and React for the hooks alone', () => {
  expect(manifest.dependencies).toBeUndefined();
  expect(Object.keys(manifest.peerDependencies)).toEqual(['ai', 'react']);
  expect(manifest.peerDependenciesMeta).toEqual({ react: { optional: true } });
  const others = files().flatMap(file =>
    imports(file)
      .filter(name => !name.startsWith('.'))
      .map(name => `${file}: ${name}`),
  );
  expect(others.sort()).toEqual([
    'react/use-approvals.js: react',
    'react/use-client-tools.js: react',
    'react/use-connection.js: react',
    'send-automatically.js: ai',
  ]);
});

test('every import leads somewhere', () => {
  for (const file of files()) {
    for (const name of imports(file).filter(name => name.startsWith('.'))) {
      const target = resolve(dirname(join(built, file)), name);
      expect(existsSync(target), `${file}: ${name}`).toBe(true);
    }
  }
});

test('every entry has code and types', () => {
  for (const { types, default: code } of Object.values<Record<string, string>>(manifest.exports)) {
    for (const path of [types, code]) {
      expect(existsSync(join(built, (path ?? '').replace('./dist/', ''))), path).toBe(true);
    }
  }
  expect(manifest.sideEffects).toBe(false);
  expect(manifest.type).toBe('module');
});
