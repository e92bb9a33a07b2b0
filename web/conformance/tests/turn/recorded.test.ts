/** Every recorded scenario that a person answers, with the stock client. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../src/corpus.ts';
import { majors } from '../../src/sdk.ts';
import type { Json } from '../../src/stream.ts';
import { toolName, toolParts } from '../../src/tool-part.ts';
import { can } from './flow.ts';
import { pageTools } from './page-tools.ts';
import { agent, type Served, serve } from './served.ts';
import { expectLastWord, expectPaid, expectServed, expectSound } from './sound.ts';

type Scenario = {
  name: string;
  transport: 'sse' | 'bidi';
  prompt: string;
  answers: ('approve' | 'deny' | 'none')[];
  calls: { tool: string; input: Record<string, Json> }[];
};

const scenarios = JSON.parse(
  readFileSync(join(projectRoot, 'crates', 'testkit', 'scenarios', 'seeds.json'), 'utf8'),
) as Scenario[];

// A model that speaks live asks one question after the other; ADK's, over SSE, does not.
const servers: Record<Scenario['transport'], Served> = {
  sse: serve(agent === 'adk' ? {} : { agent: 'demo' }),
  bidi: serve(agent === 'adk' ? {} : { agent: 'demo-live' }),
};

const answered = scenarios.filter(
  ({ answers, transport }) =>
    !answers.includes('none') && (transport === 'sse' || can('live-recordings')),
);

describe.each(answered)('$name', ({ transport, prompt, answers, calls }) => {
  test.each(majors)('on version %s', async major => {
    const tab = servers[transport].open(major, { tools: pageTools });
    await tab.say(prompt);
    for (const answer of answers) {
      const asked = tab.messages
        .flatMap(toolParts)
        .find(part => part.state === 'approval-requested');
      expect(asked, 'a question').toBeDefined();
      if (asked !== undefined) {
        tab.answer(asked, answer === 'approve');
        await tab.quiet();
      }
    }

    const rounds = transport === 'bidi' ? answers.length : Math.min(answers.length, 1);
    await expectSound(tab, { posts: 1 + rounds + tab.ran.length });
    const parts = tab.messages.flatMap(toolParts);
    expect(parts.map(toolName)).toEqual(calls.map(({ tool }) => tool));
    parts.forEach((part, index) => {
      // Models spell names, and describe what they do, in their own way.
      const { recipient: _, description: __, ...input } = calls[index]?.input ?? {};
      expect(part.input).toMatchObject(input);
      expect(part.state).toBe(answers.includes('deny') ? 'output-denied' : 'output-available');
    });
    expectLastWord(tab);
    await expectServed(tab);
    const payments = calls.filter(({ tool }) => tool === 'process_payment');
    const { payments: paid } = await tab.api.wallet();
    const amounts = paid.map(({ amount }) => amount);
    // What is approved at once runs at the same time; one question after the other, in their order.
    const isAtOnce = transport === 'sse' || agent === 'adk-live';
    expect(isAtOnce ? amounts.sort((a, b) => a - b) : amounts).toEqual(
      answers.includes('deny') ? [] : payments.map(({ input }) => input.amount),
    );
    if (answers.includes('deny')) {
      await expectPaid(tab, []);
    }
  });
});
