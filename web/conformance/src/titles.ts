/** The titles of tests, as their source has them. */
import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

type Node = { type: string; [field: string]: unknown };

/** What makes a test or a group of them, called with its title, or first with what it needs or runs over. */
const makers = ['test', 'describe', 'flow', 'flows'];

/** The titles of the tests of a file, each behind those of its groups, without the versions they run on. */
export function titlesIn(file: URL): string[] {
  const program = parseAst(readFileSync(file, 'utf8'), { lang: 'ts' });
  return titlesBelow(program as unknown as Node, []).map(path =>
    path.map(withoutVersion).filter(Boolean).join(': '),
  );
}

function titlesBelow(node: Node, path: string[]): string[][] {
  const title = node.type === 'CallExpression' ? titleOf(node) : undefined;
  const below = title === undefined ? path : [...path, title];
  const found = Object.values(node)
    .flatMap(value => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .flatMap(child => titlesBelow(child, below));
  return title !== undefined && found.length === 0 ? [below] : found;
}

/** What a call says that makes a test: its first argument is a title, its last one a function. */
function titleOf({ callee, arguments: given }: Node): string | undefined {
  const all = given as Node[];
  const [first, last] = [all[0], all.at(-1)];
  const isMade = makers.includes(nameOf(callee as Node)) && /Function/.test(last?.type ?? '');
  if (!isMade || first === undefined) {
    return undefined;
  }
  if (first.type === 'TemplateLiteral') {
    const texts = (first.quasis as { value: { cooked: string } }[]).map(
      ({ value }) => value.cooked,
    );
    return texts.join('…');
  }
  return typeof first.value === 'string' ? first.value : undefined;
}

/** `test` of `test.each(majors)(…)`. */
function nameOf(node: Node): string {
  switch (node.type) {
    case 'Identifier':
      return node.name as string;
    case 'MemberExpression':
      return nameOf(node.object as Node);
    case 'CallExpression':
      return nameOf(node.callee as Node);
    default:
      return '';
  }
}

const withoutVersion = (title: string) =>
  title.replace(/,? ?\bon (version )?(%s|\$major|\$version)$/, '').trim();

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;
