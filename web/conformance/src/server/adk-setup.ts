/** One ADK for all files of a project: it takes seconds to start. */
import type { TestProject } from 'vitest/node';
import { Adk } from './adk.ts';

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const adk = await Adk.start({ pace: 1, isForgetful: true });
  project.provide('adk', adk.place);
  return () => adk.stop();
}
