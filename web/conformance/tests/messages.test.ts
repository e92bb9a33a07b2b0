/** Every message that our code can make passes the official check of messages. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Profile, profiles, type SchemaSdkName, schemaSdks } from '../src/schema-sdks.ts';
import { anyData, anyTool, generalType, isToolType, partShapes } from '../src/schema-shape.ts';
import { specimens } from '../src/specimens.ts';

type Part = { type: string; state?: string };

type Specimen = { profile: Profile; messages: { parts: Part[] }[] };

describe('the schema of a package', () => {
  test('is read in full', async () => {
    const shapes = await partShapes(schemaSdks['ai-7']);
    expect(shapes).toContainEqual({ type: anyData });
    expect(shapes).toContainEqual({ type: 'steering-message' });
    expect(shapes).toContainEqual({ type: anyTool, state: 'output-denied' });
    expect(shapes).toContainEqual({ type: 'dynamic-tool', state: 'approval-responded' });
  });
});

describe('messages of our own', () => {
  let lines: Specimen[];

  beforeAll(() => {
    lines = specimens<Specimen>('messages');
  });

  test.each(
    (Object.keys(profiles) as Profile[]).flatMap(profile =>
      profiles[profile].map(name => ({ profile, name })),
    ),
  )('for $profile are accepted by $name', async ({ profile, name }) => {
    const rejected: string[] = [];
    for (const { messages } of linesFor(profile)) {
      await schemaSdks[name]
        .validateUIMessages({ messages })
        .catch(() => rejected.push(JSON.stringify(messages)));
    }
    expect(rejected.slice(0, 5), `${rejected.length} are rejected`).toEqual([]);
  });

  test.each([
    { profile: 'shared', name: 'ai-6-0-0' },
    { profile: 'v7', name: 'ai-7' },
  ] as { profile: Profile; name: SchemaSdkName }[])(
    'for $profile hold every part and every tool state of $name',
    async ({ profile, name }) => {
      const shapes = await partShapes(schemaSdks[name]);
      const parts = linesFor(profile).flatMap(({ messages }) =>
        messages.flatMap(message => message.parts),
      );
      const types = new Set(parts.map(part => generalType(part.type, 'part')));
      const states = new Set(
        parts
          .filter(part => isToolType(generalType(part.type, 'part')))
          .map(part => part.state ?? ''),
      );
      expect(shapes.map(shape => shape.type).filter(type => !types.has(type))).toEqual([]);
      expect(
        shapes.flatMap(shape => shape.state ?? []).filter(state => !states.has(state)),
      ).toEqual([]);
    },
  );

  function linesFor(profile: Profile): Specimen[] {
    return lines.filter(line => line.profile === profile);
  }
});
