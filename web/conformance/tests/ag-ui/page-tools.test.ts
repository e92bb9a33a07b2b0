/** Tools that a page declares in its runs, and runs: the agent is one of a file that takes them. */
import { expect, test } from 'vitest';
import { agUiVersions } from '../../src/ag-ui-page.ts';
import { serve } from '../turn/served.ts';
import { open } from './pages.ts';

const served = serve({
  agent: 'gemini',
  // The calls of these tests are scripted, and not signed.
  emulatorFlags: ['--signatures', 'never'],
  agentFile: `
[agents.painter]
model = "gemini:gemini-3-flash"
page-tools = { names = ["pick_*", "erase"], allow = ["pick_*"] }
`,
});

const parameters = {
  type: 'object',
  properties: { what: { type: 'string' } },
  required: ['what'],
};

const declared = ['pick_color', 'erase', 'upload'].map(name => {
  return { name, description: `Does ${name}.`, parameters };
});

const tools = { pick_color: () => 'blue', erase: () => 'gone' };

/** A model that makes one call, and then says what came of it. */
function calls(name: string) {
  const parts = [{ functionCall: { name, args: { what: 'sky' } } }];
  const content = { role: 'model', parts };
  const chunk = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
  return [{ on: 'generate' as const, nth: 1, respond: [chunk] }];
}

test.each(agUiVersions)('the model calls a tool that the page declared, on %s', async version => {
  await served.server.emulator.follow(calls('pick_color'));
  const page = open(served, version, { tools });
  await page.say('Paint the sky', { tools: declared });

  expect(page.errors).toEqual([]);
  expect(page.ran).toEqual([{ name: 'pick_color', input: { what: 'sky' } }]);
  expect(Object.values(page.calls)).toEqual(['blue']);
  const requests = await served.server.emulator.requests();
  const offered = JSON.stringify(requests[0]?.tools);
  expect(offered).toContain('"pick_color"');
  expect(offered, 'the file does not name it').not.toContain('"upload"');
  expect(JSON.stringify(requests[1]?.contents)).toContain('blue');
});

test.each(agUiVersions)('one that the file does not allow asks first, on %s', async version => {
  await served.server.emulator.follow(calls('erase'));
  const page = open(served, version, { tools });
  await page.say('Erase the sky', { tools: declared });
  expect(page.interrupts).toMatchObject([{ metadata: { toolName: 'erase' } }]);
  expect(page.ran).toEqual([]);
  await page.answer(true);

  expect(page.errors).toEqual([]);
  expect(page.ran).toEqual([{ name: 'erase', input: { what: 'sky' } }]);
});
