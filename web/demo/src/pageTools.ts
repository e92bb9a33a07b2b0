/** The tools that the agent calls and this page runs. */
import { readLocation } from './location.ts';
import { playTrack } from './music.ts';
import { isRecord } from './output.ts';
import { isTrack } from './tracks.ts';

/** What came of a call, as `addToolOutput` takes it. */
type Outcome =
  | { state: 'output-available'; output: unknown }
  | { state: 'output-error'; errorText: string };

const tools = new Map<string, (input: unknown) => Promise<unknown>>([
  ['change_bgm', changeMusic],
  ['get_location', readLocation],
]);

/** Kept for the life of the page, beyond any component: React may mount one twice. */
const outcomes = new Map<string, Promise<Outcome>>();

/**
 * Runs a call, if its tool is one of this page's.
 *
 * A call runs once. A stream that is resumed may announce it again; then what came of it is said
 * again.
 */
export function runPageTool(call: {
  toolName: string;
  toolCallId: string;
  input: unknown;
}): Promise<Outcome> | undefined {
  const tool = tools.get(call.toolName);
  if (tool === undefined) {
    return undefined;
  }
  const known = outcomes.get(call.toolCallId);
  if (known !== undefined) {
    return known;
  }
  const outcome = tool(call.input).then(
    (output): Outcome => ({ state: 'output-available', output }),
    (error: unknown): Outcome => ({
      state: 'output-error',
      errorText: error instanceof Error ? error.message : String(error),
    }),
  );
  outcomes.set(call.toolCallId, outcome);
  return outcome;
}

async function changeMusic(input: unknown): Promise<unknown> {
  const track = isRecord(input) ? input.track : undefined;
  if (!isTrack(track)) {
    throw new Error(`There is no track ${track}. There are 1 and 2.`);
  }
  await playTrack(track);
  return { success: true, track };
}
