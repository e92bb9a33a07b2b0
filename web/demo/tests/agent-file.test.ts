/** The guide of docs/agent-file.md in a browser: the page that its file gives, with a card and a yes. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { projectRoot, Server } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

/** npm may have to fetch the MCP server, and the machine may be busy. */
const startLimitMs = 240_000;

const example = (name: string) =>
  readFileSync(join(projectRoot, 'examples/mcp-approvals', name), 'utf8');

test(
  'a card asks before the file is written, and a yes writes it',
  async () => {
    const gemini = await Server.emulateGemini(JSON.parse(example('script.json')), [
      ...['--signatures', 'never'],
    ]);
    onTestFinished(() => gemini.remove());
    const server = await startServer({
      agentFile: example('adk-stream.toml'),
      gemini: gemini.url,
    });
    const note = join(server.folder, 'note.txt');
    const visitor = await Visitor.at(server.url);

    // Until the MCP server has listed its tools, the model's call names none of them, and fails.
    const asked = visitor.cards('files.write_file: asked');
    const deadline = performance.now() + startLimitMs;
    do {
      expect(performance.now(), 'no card asks').toBeLessThan(deadline);
      await visitor.says('Write a note');
      await visitor.sawTheEnd();
    } while (!(await asked.isVisible()));

    await asked.getByText('Write note.txt?').waitFor();
    await asked.getByText('Buy tea.').first().waitFor();
    expect(existsSync(note)).toBe(false);
    await visitor.approves();
    await visitor.seesCards('files.write_file: done');
    expect(readFileSync(note, 'utf8')).toBe('Buy tea.\n');
    expect(visitor.complaints).toEqual([]);
  },
  startLimitMs + 60_000,
);
