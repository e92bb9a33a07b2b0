/** Tools that a page declares in its requests, and runs: the agent is one of a file that takes them. */
import { expect, test } from 'vitest';
import { expectLastWord, expectSound, outline } from '../turn/sound.ts';
import { pages, serveFaulty } from './pages.ts';

const served = serveFaulty({
  // The calls of these tests are scripted, and not signed.
  emulatorFlags: ['--signatures', 'never'],
  agentFile: `
[agents.painter]
model = "gemini:gemini-3-flash"
page-tools = { names = ["pick_*", "erase"], allow = ["pick_*"] }
`,
});

const parameters = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { what: { type: 'string' } },
  required: ['what'],
  additionalProperties: false,
};

/** As assistant-ui sends what its page has registered. */
const declared = {
  pick_color: { description: 'Has the user pick a colour.', parameters },
  erase: { description: 'Erases something.', parameters },
  upload: { description: 'The file does not name it.', parameters },
};

const tools = {
  pick_color: () => ({ output: 'blue' }),
  erase: () => ({ output: 'gone' }),
};

/** A model that makes one call, and then says what came of it. */
function calls(name: string) {
  const parts = [{ functionCall: { name, args: { what: 'sky' } } }];
  const content = { role: 'model', parts };
  const chunk = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
  return [{ on: 'generate' as const, nth: 1, respond: [chunk] }];
}

test.each(pages)(
  'the model calls a tool that the page declared, on version $major over $transport',
  async page => {
    await served.emulator.follow(calls('pick_color'));
    const tab = served.visit(page, { tools, body: { tools: declared } });
    await tab.say('Paint the sky');

    await expectSound(tab, { posts: 2 });
    expect(tab.ran).toMatchObject([{ toolName: 'pick_color', input: { what: 'sky' } }]);
    expect(outline(tab.messages)).toEqual([['pick_color: output-available']]);
    expect(tab.call('pick_color').output).toBe('blue');
    expectLastWord(tab);
    // Both steps offered what the file names, and the model got the page's output.
    const requests = await served.emulator.requests();
    expect(requests).toHaveLength(2);
    for (const request of requests) {
      const offered = JSON.stringify(request.tools);
      expect(offered).toContain('"pick_color"');
      expect(offered).toContain('"erase"');
      expect(offered).not.toContain('"upload"');
    }
    expect(JSON.stringify(requests[1]?.contents)).toContain('blue');
  },
);

test.each(pages)(
  'one that the file does not allow asks first, on version $major over $transport',
  async page => {
    await served.emulator.follow(calls('erase'));
    const tab = served.visit(page, { tools, body: { tools: declared } });
    await tab.say('Erase the sky');
    expect(outline(tab.messages)).toEqual([['erase: approval-requested']]);
    expect(tab.ran).toEqual([]);
    await tab.approve(tab.call('erase'));

    await expectSound(tab, { posts: 3 });
    expect(tab.call('erase')).toMatchObject({ state: 'output-available', output: 'gone' });
    expectLastWord(tab);
  },
);

test.each(pages)(
  'one that is not declared right is refused with its reason, on version $major over $transport',
  async page => {
    await served.emulator.follow([]);
    const body = { tools: { pick_color: { parameters: { type: 'string' } } } };
    const tab = served.visit(page, { tools, body });
    await tab.say('Paint the sky');

    const error = {
      code: 'invalid_page_tool',
      message: expect.stringContaining('tools.pick_color: its input schema'),
    };
    expect(tab.connection.refusals).toMatchObject([{ body: { error } }]);
    expect(await served.emulator.requests()).toEqual([]);
  },
);
