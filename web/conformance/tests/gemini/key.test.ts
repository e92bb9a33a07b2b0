/** The key goes to Gemini, and nowhere else. */
import { expect, test } from 'vitest';
import type { Agent } from '../../src/server/server.ts';
import type { Tab } from '../../src/server/tab.ts';
import { type Faulty, pages, serveFaulty } from './pages.ts';

const key = 'AIza-nobody-may-see-this-0123456789';

/** Everything is logged that can be. */
const variables = { ADK_STREAM_LOG: 'trace' };

const agents: Record<string, { taken: Faulty; refused: Faulty }> = Object.fromEntries(
  (['gemini', 'gemini-live'] as const satisfies Agent[]).map(agent => {
    const options = { agent, variables, geminiKey: key };
    return [
      agent,
      {
        taken: serveFaulty({ ...options, emulatorFlags: ['--keys', key] }),
        refused: serveFaulty({ ...options, emulatorFlags: ['--keys', 'another'] }),
      },
    ];
  }),
);

async function expectHidden(served: Faulty, tab: Tab) {
  const answers = await Promise.all(
    ['', '/journal', '/recording'].map(async path => {
      const response = await tab.api.fetch(`/api/chat/${tab.id}${path}`);
      expect(response.status).toBe(200);
      return response.text();
    }),
  );
  const info = await (await tab.api.fetch('/api/info')).text();
  for (const text of [...answers, info, tab.story, JSON.stringify(tab.messages)]) {
    expect(text).not.toContain(key);
  }
  expect(tab.page.error?.message ?? '').not.toContain(key);
  const { complaints } = served.server;
  expect(complaints.length, 'there is a log').toBeGreaterThan(0);
  expect(complaints.filter(line => line.includes(key))).toEqual([]);
  // What the emulator was asked: what it answered is for the test to say.
  const asked = (await served.emulator.log()).filter(({ kind }) =>
    ['request', 'opened', 'received'].includes(kind),
  );
  expect(asked.length).toBeGreaterThan(0);
  expect(JSON.stringify(asked)).not.toContain(key);
}

test.each(Object.keys(agents).flatMap(agent => pages.map(page => ({ agent, ...page }))))(
  '$agent does not tell it, on version $major over $transport',
  async ({ agent, ...page }) => {
    const served = agents[agent]?.taken as Faulty;
    const on = agent === 'gemini' ? 'generate' : 'connect';
    // Google may repeat what it was sent in what it says.
    const words = `It is not that ${key} is wrong.`;
    const fault =
      agent === 'gemini'
        ? { status: { code: 400, message: words } }
        : { close: { code: 1007, reason: words } };
    await served.emulator.follow([{ on, times: 1, ...fault }]);
    const tab = served.visit(page);
    await tab.say('What is the weather in Oslo?');
    expect(tab.page.error?.message).toMatch(/^agent_bad_request: .*It is not that .* is wrong/);
    await expectHidden(served, tab);
    await tab.say('What is the weather in Oslo?');
    expect(tab.text).toMatch(/Oslo/);
    await expectHidden(served, tab);
  },
);

test.each(Object.keys(agents).flatMap(agent => pages.map(page => ({ agent, ...page }))))(
  '$agent is refused, on version $major over $transport',
  async ({ agent, ...page }) => {
    const served = agents[agent]?.refused as Faulty;
    await served.emulator.follow([]);
    const tab = served.visit(page);
    await tab.say('What is the weather in Oslo?');
    expect(tab.page.error?.message).toBe('agent_unauthorized: Gemini does not accept the key.');
    await expectHidden(served, tab);
  },
);
