/** A page imports from the SDK and from here side by side: no name is in both, values and types alike. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const here = dirname(fileURLToPath(import.meta.url));

/** Every release that the package is tested with. */
const packages = [
  'ai-6',
  'ai-7',
  'ai-sdk-react-6',
  '@ai-sdk/react',
  'ai-sdk-vue-6',
  '@ai-sdk/vue',
  'ai-sdk-svelte-6',
  '@ai-sdk/svelte',
];
const entries = ['index', 'react', 'react-parts', 'vue', 'svelte'];

/** What a module exports by name, itself and from others, as `a`, `type A` and `a as b`. */
function namesIn(source: string): string[] {
  const lists = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)];
  return lists.flatMap(([, list = '']) =>
    list
      .split(',')
      .map(
        name =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')
            .at(-1) ?? '',
      )
      .filter(name => name !== ''),
  );
}

function declaredBy(name: string): string[] {
  const root = join(here, '../../node_modules', name);
  const { types, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return namesIn(readFileSync(join(root, types ?? exports['.'].types), 'utf8'));
}

test.each(packages)('no name is one of %s', name => {
  const theirs = new Set(declaredBy(name));
  expect(theirs.size).toBeGreaterThan(0);
  for (const entry of entries) {
    const ours = namesIn(readFileSync(join(here, `../src/${entry}.ts`), 'utf8'));
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.filter(name => theirs.has(name))).toEqual([]);
  }
});
