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
  [...readFileSync(join(built, file), 'utf8').matchAll(/from ['"]([^'"]+)['"]/g)].map(
    ([, name = '']) => name,
  );

test('needs nothing but its peers, and each framework for its own entry alone', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
  expect(dependencies).toBeUndefined();
  const peers = Object.keys(peerDependencies);
  const frameworks = ['@ai-sdk/react', '@ai-sdk/svelte', '@ai-sdk/vue', 'react', 'svelte', 'vue'];
  expect(peers.filter(name => name !== 'ai').sort()).toEqual(frameworks);
  for (const name of frameworks) {
    expect(peerDependenciesMeta[name], name).toEqual({ optional: true });
  }
  const foreign = new Set(
    files().flatMap(file =>
      imports(file)
        .filter(name => !name.startsWith('.'))
        .map(name => `${file.includes('/') ? dirname(file) : '.'}: ${name}`),
    ),
  );
  expect([...foreign].sort()).toEqual([
    '.: ai',
    'react: @ai-sdk/react',
    'react: react',
    'react: react/jsx-runtime',
    'svelte: @ai-sdk/svelte',
    'svelte: svelte',
    'svelte: svelte/reactivity',
    'vue: @ai-sdk/vue',
    'vue: vue',
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
  for (const targets of Object.values<Record<string, string>>(manifest.exports)) {
    expect(Object.keys(targets)).toEqual(expect.arrayContaining(['types', 'default']));
    for (const path of Object.values(targets)) {
      expect(existsSync(join(built, path.replace('./dist/', ''))), path).toBe(true);
    }
  }
  expect(manifest.sideEffects).toBe(false);
  expect(manifest.type).toBe('module');
});
