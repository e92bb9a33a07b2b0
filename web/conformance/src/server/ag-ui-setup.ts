/** One AG-UI agent for all projects that want one: it takes seconds to start. */
import type { TestProject } from 'vitest/node';
import { AgUiAgent } from './ag-ui-agent.ts';

/** Vitest loads this file once for each project, in one process. */
const shared = globalThis as { agUi?: { started: Promise<AgUiAgent>; users: number } };

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  shared.agUi ??= { started: AgUiAgent.start({ pace: 1 }), users: 0 };
  const { agUi } = shared;
  agUi.users += 1;
  const running = await agUi.started;
  project.provide('agUi', running.place);
  return async () => {
    agUi.users -= 1;
    if (agUi.users === 0) {
      await running.stop();
    }
  };
}
