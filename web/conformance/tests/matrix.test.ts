/** The matrix: what is not generated in which cell, and why, is listed in a file that is reviewed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agUiFlows, type NotDriven } from '../src/ag-ui-flows.ts';
import { agUi, type Capability, type Cell, cells, notWithAgUi } from '../src/cells.ts';
import { titlesIn } from '../src/titles.ts';

const folder = new URL('turn/', import.meta.url);

const testsIn = (folder: URL) =>
  readdirSync(folder)
    .filter(file => file.endsWith('.test.ts'))
    .map(file => file.slice(0, -'.test.ts'.length));

const names = testsIn(folder);

const agUiFolder = new URL('ag-ui/', import.meta.url);

const all = Object.entries<Cell>(cells);

/** What the flows of a file need, with how often each need is named. */
function needsOf(name: string): Map<Capability, number> {
  const source = readFileSync(new URL(`${name}.test.ts`, folder), 'utf8');
  const needs = new Map<Capability, number>();
  for (const [, named = ''] of source.matchAll(/\b(?:flow|flows|can)\(([^)]*)\)/g)) {
    for (const [, need] of named.matchAll(/'([\w-]+)'/g)) {
      needs.set(need as Capability, (needs.get(need as Capability) ?? 0) + 1);
    }
  }
  return needs;
}

/** The rows of a cell: a file, what is left out of it, and why. */
function rowsOf({ without = {}, cannot }: Cell): string[] {
  return names.flatMap(name => {
    const reason = without[name];
    if (reason !== undefined) {
      return [`| ${name} | all | ${reason} |`];
    }
    const lacking = [...needsOf(name)].filter(([need]) => cannot[need] !== undefined).sort();
    return lacking.map(([need]) => `| ${name} | flows that need \`${need}\` | ${cannot[need]} |`);
  });
}

/** Why a flow is not driven with AG-UI's own clients. */
const reasonOf = (by: NotDriven) => ('reason' in by ? by.reason : (agUi[by.cannot] ?? ''));

function listing(): string {
  const parts = all.map(([name, cell]) => {
    const rows = rowsOf(cell);
    const table = ['| file | what | reason |', '|---|---|---|', ...rows].join('\n');
    return `## ${name}\n\n${rows.length === 0 ? 'Everything is generated.' : table}\n`;
  });
  const flows = Object.entries(agUiFlows).flatMap(([file, flows]) =>
    Object.entries(flows).flatMap(([title, by]) =>
      typeof by === 'string' ? [] : [`| ${file} | ${title} | ${reasonOf(by)} |`],
    ),
  );
  const rows = [
    ...Object.entries(notWithAgUi).map(([file, reason]) => `| ${file} | all | ${reason} |`),
    ...Object.entries(agUi).map(([need, reason]) => `| | \`${need}\` | ${reason} |`),
    ...flows,
  ].sort();
  parts.push(
    [
      "## ag-ui\n\nPages on AG-UI's own clients are driven by `tests/ag-ui`, in their own words. Of what the files here are about, this is not:\n",
      '| file | what | reason |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n'),
  );
  const intro = [
    '# What is not generated',
    'The files of `tests/turn` run in every cell of the matrix but for these. `tests/matrix.test.ts` writes this page from `src/cells.ts`: `npx vitest run --project wire tests/matrix.test.ts -u`.',
  ];
  return [...intro, ...parts].join('\n\n');
}

test('what is not generated is listed with its reason', async () => {
  await expect(listing()).toMatchFileSnapshot('../not-generated.md');
});

test("AG-UI's own clients drive each flow, or it is listed", () => {
  const driven = new Set(
    testsIn(agUiFolder).flatMap(file =>
      titlesIn(new URL(`${file}.test.ts`, agUiFolder)).map(title => `${file}: ${title}`),
    ),
  );
  const listed = [...Object.keys(agUiFlows), ...Object.keys(notWithAgUi)];
  expect(listed.sort()).toEqual(names);
  for (const [name, flows] of Object.entries(agUiFlows)) {
    const titles = titlesIn(new URL(`${name}.test.ts`, folder));
    expect(Object.keys(flows).sort(), name).toEqual(titles.sort());
    for (const by of Object.values(flows)) {
      if (typeof by === 'string') {
        expect(driven.has(by), `${name}: ${by}`).toBe(true);
      } else {
        expect(reasonOf(by).split(' ').length, name).toBeGreaterThan(3);
      }
    }
  }
});

test('each reason is a sentence, and each file that is left out exists', () => {
  for (const [cell, { without = {}, cannot, shortRun = [] }] of all) {
    for (const [subject, reason] of [...Object.entries(without), ...Object.entries(cannot)]) {
      expect(reason.split(' ').length, `${cell}: ${subject}: ${reason}`).toBeGreaterThan(3);
    }
    for (const file of [...Object.keys(without), ...shortRun]) {
      expect(existsSync(new URL(`${file}.test.ts`, folder)), `${cell}: ${file}`).toBe(true);
    }
  }
});

test('no flow needs what no cell lacks, or what every cell lacks', () => {
  const needed = new Set(names.flatMap(name => [...needsOf(name).keys()]));
  expect(needed.size).toBeGreaterThan(10);
  for (const need of needed) {
    const lacking = all.filter(([, { cannot }]) => cannot[need] !== undefined);
    expect(lacking.length, need).toBeGreaterThan(0);
    expect(lacking.length, need).toBeLessThan(all.length);
  }
});
