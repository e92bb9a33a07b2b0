/**
 * What the schemas of a package are made of. They are not exported as data, so they are asked: a
 * union that rejects a value says what each of its members missed, and a value can see which of
 * its fields are read.
 */
import type { SchemaSdk } from './schema-sdks.ts';

/** The type of data chunks and data parts, whatever their name. */
export const anyData = 'data-*';

/** The type of static tool parts, whatever their tool. */
export const anyTool = 'tool-*';

export type ChunkShape = { type: string; required: string[]; optional: string[] };

export type PartShape = { type: string; state?: string };

type Issue = {
  code: string;
  path: PropertyKey[];
  values?: unknown[];
  prefix?: string;
  errors?: Issue[][];
};

/** The chunks that a package knows, in the order of its schema. */
export async function chunkShapes(sdk: SchemaSdk): Promise<ChunkShape[]> {
  const { value, fieldsByMember } = watchedValue();
  const validation = await sdk.uiMessageChunkSchema().validate?.(value);
  if (validation === undefined || validation.success) {
    throw new Error('the chunk schema accepted a chunk of no type');
  }
  const members = unionMembers(validation.error);
  if (members.length !== fieldsByMember.length) {
    throw new Error('the chunk schema is read in a way that is not understood here');
  }
  return members.map((issues, index) => {
    const missed = new Set(issues.map(issue => String(issue.path[0])));
    const fields = fieldsByMember[index] ?? [];
    return {
      type: literalAt(issues, 'type') ?? anyData,
      required: fields.filter(field => missed.has(field)),
      optional: fields.filter(field => !missed.has(field)),
    };
  });
}

/** The parts that a package knows, tool parts once for each state. */
export async function partShapes(sdk: SchemaSdk): Promise<PartShape[]> {
  const part = { type: 'no such type', state: 'no such state' };
  const messages = [{ id: 'm1', role: 'assistant', parts: [part] }];
  const rejection: unknown = await sdk.validateUIMessages({ messages }).then(
    () => undefined,
    error => error,
  );
  if (!(rejection instanceof Error)) {
    throw new Error('the message schema accepted a part of no type');
  }
  return unionMembers(rejection.cause).map(issues => {
    const type = literalAt(issues, 'type') ?? `${prefixAt(issues, 'type')}*`;
    const state = isToolType(type) ? literalAt(issues, 'state') : undefined;
    return state === undefined ? { type } : { type, state };
  });
}

/** The type of a chunk or a part, with the name of its data or tool left out. */
export function generalType(type: string, of: 'chunk' | 'part'): string {
  if (type.startsWith('data-')) {
    return anyData;
  }
  return of === 'part' && type.startsWith('tool-') ? anyTool : type;
}

export function isToolType(type: string): boolean {
  return type === anyTool || type === 'dynamic-tool';
}

/** A chunk of no known type, without fields, that notes which fields each member looks for. */
function watchedValue(): { value: object; fieldsByMember: string[][] } {
  const fieldsByMember: string[][] = [];
  const value = new Proxy(
    {},
    {
      get(_target, key) {
        // Every member looks at the type first, so a look at the type is the next member.
        if (key === 'type') {
          fieldsByMember.push([]);
          return 'no such type';
        }
        if (typeof key === 'string') {
          fieldsByMember.at(-1)?.push(key);
        }
        return undefined;
      },
    },
  );
  return { value, fieldsByMember };
}

function unionMembers(error: unknown): Issue[][] {
  const [issue] = (error as { issues?: Issue[] }).issues ?? [];
  if (issue?.code !== 'invalid_union' || issue.errors === undefined) {
    throw new Error('the schema is no union any more');
  }
  return issue.errors;
}

function literalAt(issues: Issue[], field: string): string | undefined {
  const literal = issues.find(issue => issue.path[0] === field)?.values?.[0];
  return typeof literal === 'string' ? literal : undefined;
}

function prefixAt(issues: Issue[], field: string): string | undefined {
  return issues.find(issue => issue.path[0] === field)?.prefix;
}
