/** One AI SDK route for all files of a project. */
import type { TestProject } from 'vitest/node';
import { majors } from '../sdk.ts';
import { AiSdkRoute } from './ai-sdk-route.ts';

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const route = await AiSdkRoute.start({ pace: 1 });
  // The first request loads much, and no test is to wait for that.
  const hello = { id: 'first', role: 'user', parts: [{ type: 'text', text: 'Good morning!' }] };
  for (const major of majors) {
    const body = JSON.stringify({ id: 'first', messages: [hello] });
    const answer = await fetch(`${route.place.url}/${major}/api/chat`, { method: 'POST', body });
    await answer.text();
  }
  project.provide('aiSdk', route.place);
  return () => route.stop();
}
