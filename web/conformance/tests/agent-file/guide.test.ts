/** The agent of docs/agent-file.md: a short file, an MCP server of npm, and pages with approvals. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { projectRoot } from '../../src/corpus.ts';
import type { Rule } from '../../src/server/emulator.ts';
import { Tab } from '../../src/server/tab.ts';
import { until } from '../../src/server/until.ts';
import { pages, serveFaulty } from '../gemini/pages.ts';
import { expectLastWord, expectServed, expectSound, outline } from '../turn/sound.ts';

const example = (name: string) =>
  readFileSync(join(projectRoot, 'examples/mcp-approvals', name), 'utf8');

const agentFile = example('adk-stream.toml');

const { rules } = JSON.parse(example('script.json')) as { rules: Rule[] };

/** npm may have to fetch the server, and the machine may be busy. */
const startLimitMs = 240_000;

const served = serveFaulty({ emulatorFlags: ['--signatures', 'never'], agentFile });

/** What the model is asked to write. */
const note = () => join(served.server.folder, 'note.txt');

beforeAll(async () => {
  // The tools appear when the server has listed them; until then, the model is offered none. One person
  // asks, however long that takes: the server has keys for 256 people.
  const tab = new Tab({ server: served.server, major: '7' });
  await until(
    'the model is offered the tools of the MCP server',
    async () => {
      await served.emulator.follow(rules);
      await tab.say('Hello');
      const [request] = await served.emulator.requests();
      return JSON.stringify(request?.tools ?? []).includes('write_file');
    },
    { timeoutMs: startLimitMs },
  );
}, startLimitMs);

beforeEach(async () => {
  rmSync(note(), { force: true });
  await served.emulator.follow(rules);
});

test('the file has at most fifteen lines', () => {
  expect(agentFile.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
});

test.each(pages)('a note is written after a yes, on version $major over $transport', async page => {
  const tab = served.visit(page);
  await tab.say('Write a note');
  expect(outline(tab.messages)).toEqual([['files.write_file: approval-requested']]);
  expect(await tab.api.approvals()).toMatchObject([
    { toolName: 'files.write_file', question: 'Write note.txt?' },
  ]);
  expect(existsSync(note())).toBe(false);
  await tab.approve(tab.call('files.write_file'));

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['files.write_file: output-available']]);
  expectLastWord(tab, /Done/);
  await expectServed(tab);
  expect(readFileSync(note(), 'utf8')).toBe('Buy tea.\n');
});

test.each(pages)('none is written after a no, on version $major over $transport', async page => {
  const tab = served.visit(page);
  await tab.say('Write a note');
  await tab.deny(tab.call('files.write_file'), 'I have no tea');

  await expectSound(tab, { posts: 2 });
  expect(outline(tab.messages)).toEqual([['files.write_file: output-denied']]);
  await expectServed(tab);
  expect(existsSync(note())).toBe(false);
  const [, sent] = await served.emulator.requests();
  expect(JSON.stringify(sent?.contents)).toContain('I have no tea');
});

test.each(pages)(
  'what the file allows runs at once, on version $major over $transport',
  async page => {
    const call = { name: 'files.list_directory', args: { path: '.' } };
    const content = { role: 'model', parts: [{ functionCall: call }] };
    const chunk = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
    await served.emulator.follow([{ on: 'generate', nth: 1, respond: [chunk] }, ...rules]);
    const tab = served.visit(page);
    await tab.say('What is here?');

    await expectSound(tab, { posts: 1 });
    expect(outline(tab.messages)).toEqual([['files.list_directory: output-available']]);
    expect(JSON.stringify(tab.call('files.list_directory').output)).toContain('adk-stream.toml');
    await expectServed(tab);
  },
);
