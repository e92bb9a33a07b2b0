/** Gemini's requests and responses, part by part: signatures, calls, files, sources, numbers. */
import { expect, test } from 'vitest';
import type { Content } from '../../src/server/emulator.ts';
import { expectLastWord, expectPaid, expectServed, expectSound, outline } from '../turn/sound.ts';
import { metadataOf, pages, partsOf, serveFaulty } from './pages.ts';

const served = serveFaulty({ emulatorFlags: ['--signatures', 'always'] });

const withoutIds = serveFaulty({ emulatorFlags: ['--signatures', 'always', '--call-ids', 'off'] });

/** One that takes signatures which it has not made. */
const gullible = serveFaulty({ emulatorFlags: ['--signatures', 'never'] });

/** A chunk of the model, the last one. */
function said(parts: object[], more: object = {}) {
  const content = { role: 'model', parts };
  return { candidates: [{ content, finishReason: 'STOP', index: 0, ...more }] };
}

/** The parts with a signature, each as it is. */
function signed(contents: Content[]): object[] {
  return contents.flatMap(({ parts }) => parts.filter(part => part.thoughtSignature !== undefined));
}

test.each(pages)(
  'signatures go back as they came, over three steps, on version $major over $transport',
  async page => {
    await served.emulator.follow([]);
    const tab = served.visit(page);
    await tab.say('first the weather in Tokyo, then pay Ann $5');
    await tab.approve(tab.call('process_payment'));
    await tab.say('Good morning to you');

    await expectSound(tab, { posts: 3 });
    await expectServed(tab);
    await expectPaid(tab, [{ amount: 5, recipient: 'Ann' }]);
    const given = (await served.emulator.log()).flatMap(({ kind, data }) =>
      kind === 'chunk' ? (data?.candidates ?? []).flatMap(({ content }) => content ?? []) : [],
    );
    const [, , , last] = await served.emulator.requests();
    const back = signed(last?.contents ?? []);
    expect(back.length).toBeGreaterThanOrEqual(3);
    // All but those of the last answer, which nobody has asked about yet.
    expect(back).toEqual(signed(given).slice(0, back.length));
    expect(JSON.stringify(tab.messages)).not.toMatch(/signature/i);
  },
);

test.each(pages)(
  'a call without its signature is refused, on version $major over $transport',
  async page => {
    await served.emulator.follow([{ on: 'generate', nth: 1, withoutSignatures: true }]);
    const tab = served.visit(page);
    await tab.say('What is the weather in Oslo?');

    await expectSound(tab, { posts: 1, error: /^agent_bad_request: .*thought_signature/ });
    expect(outline(tab.messages)).toEqual([['get_weather: output-available']]);
    expect(await tab.api.chat(tab.id)).toMatchObject({ status: 'failed' });
  },
);

test.each(pages)(
  'a call with a wrong signature is refused, on version $major over $transport',
  async page => {
    const call = { functionCall: { id: 'c1', name: 'get_weather', args: { location: 'Oslo' } } };
    await served.emulator.follow([
      { on: 'generate', nth: 1, respond: [said([{ ...call, thoughtSignature: 'bm90IG91cnM=' }])] },
    ]);
    const tab = served.visit(page);
    await tab.say('What is the weather in Oslo?');

    await expectSound(tab, { posts: 1, error: /^agent_bad_request: .*signature/i });
    const [, second] = await served.emulator.requests();
    expect(signed(second?.contents ?? [])).toEqual([{ ...call, thoughtSignature: 'bm90IG91cnM=' }]);
  },
);

test.each(pages)(
  'two calls of one tool without ids, on version $major over $transport',
  async page => {
    await withoutIds.emulator.follow([]);
    const tab = withoutIds.visit(page);
    await tab.say('Send $20 to Sam and $30 to Hana');
    const [first, second] = tab.calls('process_payment');
    if (first === undefined || second === undefined) {
      throw new Error('there are not two questions');
    }
    // The second is answered first, and differently.
    tab.answer(second, false, 'not to her');
    await tab.approve(first);

    await expectSound(tab, { posts: 2 });
    expect(outline(tab.messages)).toEqual([
      ['process_payment: output-available', 'process_payment: output-denied'],
    ]);
    expectLastWord(tab, /Sam[\s\S]*not to her/);
    await expectPaid(tab, [{ amount: 20, recipient: 'Sam' }]);
    const [, sent] = await withoutIds.emulator.requests();
    expect(sent?.contents?.at(-1)?.parts).toEqual([
      { functionResponse: { name: 'process_payment', response: { output: expect.anything() } } },
      {
        functionResponse: {
          name: 'process_payment',
          response: { error: expect.stringMatching(/not to her/) },
        },
      },
    ]);
  },
);

test.each(pages)('a call without args, on version $major over $transport', async page => {
  await gullible.emulator.follow([
    { on: 'generate', nth: 1, respond: [said([{ functionCall: { name: 'get_weather' } }])] },
    { on: 'generate', nth: 2, respond: [said([{ text: 'I forgot the place.' }])] },
  ]);
  const tab = gullible.visit(page);
  await tab.say('What is the weather?');

  await expectSound(tab, { posts: 1 });
  expect(outline(tab.messages)).toEqual([['get_weather: output-error']]);
  expectLastWord(tab, /I forgot the place/);
});

test.each(pages)(
  'a part of an unknown kind is kept and goes back, on version $major over $transport',
  async page => {
    const hologram = { hologram: { depth_mm: 7, ünïcode: ['ä', null] }, thoughtSignature: 'c2ln' };
    await gullible.emulator.follow([
      { on: 'generate', nth: 1, respond: [said([hologram, { text: 'Look at it.' }])] },
      { on: 'generate', nth: 2, respond: [said([{ text: 'You saw it.' }])] },
    ]);
    const tab = gullible.visit(page);
    await tab.say('Show me a hologram');
    expect(tab.text).toBe('Look at it.');
    expect(JSON.stringify(tab.messages)).not.toMatch(/depth_mm/);
    await tab.say('And now?');

    await expectSound(tab, { posts: 2 });
    const [, second] = await gullible.emulator.requests();
    expect(second?.contents?.[1]).toEqual({
      role: 'model',
      parts: [hologram, { text: 'Look at it.' }],
    });
  },
);

test.each(pages)('a picture goes in, on version $major over $transport', async page => {
  const data = Buffer.from('a picture').toString('base64');
  await served.emulator.follow([]);
  const tab = served.visit(page);
  tab.send([
    { type: 'text', text: 'Good morning to you' },
    { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${data}` },
  ]);
  await tab.quiet();

  await expectSound(tab, { posts: 1 });
  await expectServed(tab);
  const [request] = await served.emulator.requests();
  expect(request?.contents?.[0]?.parts).toEqual([
    { text: 'Good morning to you' },
    { inlineData: { mimeType: 'image/png', data } },
  ]);
});

test.each(pages)(
  'a picture comes out, and goes back, on version $major over $transport',
  async page => {
    const data = Buffer.from('another picture').toString('base64');
    const picture = { inlineData: { mimeType: 'image/png', data }, thoughtSignature: 'c2ln' };
    await gullible.emulator.follow([
      { on: 'generate', nth: 1, respond: [said([{ text: 'Here:' }, picture])] },
      { on: 'generate', nth: 2, respond: [said([{ text: 'Glad you like it.' }])] },
    ]);
    const tab = gullible.visit(page);
    await tab.say('Draw something');
    expect(partsOf(tab, 'file')).toMatchObject([
      { mediaType: 'image/png', url: `data:image/png;base64,${data}` },
    ]);
    await tab.say('Nice');

    await expectSound(tab, { posts: 2 });
    await expectServed(tab);
    const [, second] = await gullible.emulator.requests();
    expect(second?.contents?.[1]?.parts).toEqual([{ text: 'Here:' }, picture]);
  },
);

test.each(pages)('sources, on version $major over $transport', async page => {
  const groundingMetadata = {
    groundingChunks: [
      { web: { uri: 'https://a.example/1', title: 'One' } },
      { web: { uri: 'https://a.example/2' } },
    ],
  };
  const citationMetadata = { citationSources: [{ uri: 'https://b.example' }] };
  await served.emulator.follow([
    {
      on: 'generate',
      respond: [
        {
          candidates: [{ content: { role: 'model', parts: [{ text: 'As ' }] }, groundingMetadata }],
        },
        said([{ text: 'they say.' }], { groundingMetadata, citationMetadata }),
      ],
    },
  ]);
  const tab = served.visit(page);
  await tab.say('What do they say?');

  await expectSound(tab, { posts: 1 });
  await expectServed(tab);
  expect(partsOf(tab, 'source-url').map(({ url, title }) => [url, title])).toEqual([
    ['https://a.example/1', 'One'],
    ['https://a.example/2', undefined],
    ['https://b.example', undefined],
  ]);
});

test.each(pages)('tokens and the version, on version $major over $transport', async page => {
  await served.emulator.follow([]);
  const tab = served.visit(page);
  await tab.say('What is the weather in Oslo?');

  await expectSound(tab, { posts: 1 });
  expect(metadataOf(tab)).toMatchObject({
    modelVersion: expect.stringMatching(/^gemini-3-flash/),
    usage: {
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
      totalTokens: expect.any(Number),
    },
  });
  const { usage } = metadataOf(tab) as { usage: Record<string, number> };
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  await expectServed(tab);
});
