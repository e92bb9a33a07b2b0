/** One AI SDK route for all files of a project. */
import type { TestProject } from 'vitest/node';
import { AiSdkRoute, warmUp } from './ai-sdk-route.ts';

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const route = await AiSdkRoute.start({ pace: 1 });
  await warmUp(route.place.url);
  project.provide('aiSdk', route.place);
  return () => route.stop();
}
