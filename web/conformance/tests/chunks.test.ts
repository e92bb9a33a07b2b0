/** Every chunk that our code can make is accepted by the clients that it is meant for. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Profile, profiles, type SchemaSdkName, schemaSdks } from '../src/schema-sdks.ts';
import { anyData, type ChunkShape, chunkShapes, generalType } from '../src/schema-shape.ts';
import { specimens } from '../src/specimens.ts';
import type { Chunk } from '../src/stream.ts';

type Specimen = { profile: Profile; chunk: Chunk };

describe('the schema of a package', () => {
  test('is read in full', async () => {
    const shapes = await chunkShapes(schemaSdks['ai-7']);
    expect(shapes).toContainEqual({
      type: 'tool-approval-request',
      required: ['approvalId', 'toolCallId'],
      optional: ['approvalDescriptor', 'inputSchemaInput', 'reason', 'isAutomatic', 'signature'],
    });
    expect(shapes).toContainEqual({
      type: anyData,
      required: ['data'],
      optional: ['id', 'transient'],
    });
  });
});

describe('chunks of our own', () => {
  let chunks: Specimen[];

  beforeAll(() => {
    chunks = specimens<Specimen>('chunks');
  });

  test.each(
    (Object.keys(profiles) as Profile[]).flatMap(profile =>
      profiles[profile].map(name => ({ profile, name })),
    ),
  )('for $profile are accepted by $name', async ({ profile, name }) => {
    const rejected: string[] = [];
    for (const chunk of chunksFor(profile)) {
      if (!(await accepts(name, chunk))) {
        rejected.push(JSON.stringify(chunk));
      }
    }
    expect(rejected.slice(0, 5), `${rejected.length} are rejected`).toEqual([]);
  });

  test('for version 7 hold every type of version 7', async () => {
    const shapes = await chunkShapes(schemaSdks['ai-7']);
    expect(missingTypes(shapes, chunksFor('v7'))).toEqual([]);
  });

  test('for all hold every type of the first version 6', async () => {
    const shapes = await chunkShapes(schemaSdks['ai-6-0-0']);
    expect(missingTypes(shapes, chunksFor('shared'))).toEqual([]);
  });

  test('for version 7 hold every optional field of version 7', async () => {
    const shapes = await chunkShapes(schemaSdks['ai-7']);
    const present = chunksFor('v7');
    const missing = shapes.flatMap(({ type, optional }) => {
      const ofType = present.filter(chunk => generalType(chunk.type, 'chunk') === type);
      return optional
        .filter(field => !ofType.some(chunk => field in chunk))
        .map(field => `${type}.${field}`);
    });
    expect(missing).toEqual([]);
  });

  function chunksFor(profile: Profile): Chunk[] {
    return chunks.filter(specimen => specimen.profile === profile).map(({ chunk }) => chunk);
  }
});

async function accepts(name: SchemaSdkName, chunk: Chunk): Promise<boolean> {
  const validation = await schemaSdks[name].uiMessageChunkSchema().validate?.(chunk);
  return validation?.success === true;
}

function missingTypes(shapes: ChunkShape[], chunks: Chunk[]): string[] {
  const present = new Set(chunks.map(chunk => generalType(chunk.type, 'chunk')));
  return shapes.map(shape => shape.type).filter(type => !present.has(type));
}
