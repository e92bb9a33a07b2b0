/** One LiteLLM for all projects that want one: it takes many seconds to start. */
import type { TestProject } from 'vitest/node';
import { Litellm } from './litellm.ts';

/** Vitest loads this file once for each project, in one process. */
const shared = globalThis as { litellm?: { started: Promise<Litellm>; users: number } };

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  shared.litellm ??= { started: Litellm.start(), users: 0 };
  const { litellm } = shared;
  litellm.users += 1;
  const running = await litellm.started;
  project.provide('litellm', running.place);
  return async () => {
    litellm.users -= 1;
    if (litellm.users === 0) {
      await running.stop();
    }
  };
}
