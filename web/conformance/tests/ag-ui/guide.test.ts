/** The code of docs/ag-ui.md does what the page says, in a page whose server is the server under test. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { askForPayment, DurableAgent } from '../../src/ag-ui-guide.ts';
import { AgUiPage } from '../../src/ag-ui-page.ts';
import type { Api } from '../../src/server/api.ts';
import { serve } from '../turn/served.ts';

const served = serve({ approvalTimeout: 600 });

const { fetch } = globalThis;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Sends requests for a path to the server, as a browser sends them to the origin of its page. */
function visit(api: Api): void {
  vi.stubGlobal('fetch', (place: string | URL, init?: RequestInit) =>
    typeof place === 'string' && place.startsWith('/')
      ? api.fetch(place, init)
      : fetch(place, init),
  );
}

type Shown = {
  reason: string;
  message: string;
  responseSchema: object;
  metadata: { input: object };
};

/** The interrupt of a reason that the guide shows. */
function documented(reason: string): Shown {
  const guide = readFileSync(new URL('../../../../docs/ag-ui.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/```json\n([^`]*)```/g)].map(([, block = '']) =>
    JSON.parse(block),
  );
  return blocks.find(block => block.reason === reason);
}

/** The names of all fields, those of objects in it too. */
function fields(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [path];
  }
  return Object.entries(value).flatMap(([name, inner]) => fields(inner, `${path}/${name}`));
}

test('a page asks for a payment, and gets the interrupt that the guide shows', async () => {
  const api = served.meet();
  visit(api);
  const [interrupt, ...others] = await askForPayment(served.server.newChat());

  expect(others).toEqual([]);
  const shown = documented('tool_call');
  const { responseSchema, metadata } = shown;
  const { input } = metadata;
  expect(interrupt).toMatchObject({ reason: 'tool_call', responseSchema });
  expect(interrupt?.metadata).toMatchObject({ toolName: 'process_payment', input });
  // Of the input, the guide shows a part.
  const named = (value: unknown) =>
    fields(value).filter(name => !name.startsWith('/metadata/input/'));
  expect(named(interrupt).sort()).toEqual(named(shown).sort());
});

test('a tool asks for data with the interrupt that the guide shows', async () => {
  const api = served.meet();
  const page = new AgUiPage('1.0.0', api, served.server.newChat());
  await page.say('Book a table');
  const [interrupt] = page.interrupts;

  const { reason, message, metadata } = documented('input_required');
  expect(interrupt).toMatchObject({ reason, message, metadata: { toolName: 'ask_user' } });
  expect(Object.keys(interrupt ?? {}).sort()).toEqual(
    Object.keys(documented('input_required')).sort(),
  );
  expect(Object.keys(interrupt?.metadata ?? {}).sort()).toEqual(Object.keys(metadata).sort());
});

test('an agent with a connect of its own loads the chat', async () => {
  const api = served.meet();
  visit(api);
  const id = served.server.newChat();
  await askForPayment(id);

  const agent = new DurableAgent({ url: '/api/ag-ui', threadId: id });
  await agent.connectAgent();
  expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'reasoning', 'assistant']);
  expect(agent.messages[0]).toMatchObject({ content: 'Send $20 to Sam' });
  expect(agent.pendingInterrupts).toHaveLength(1);
});
