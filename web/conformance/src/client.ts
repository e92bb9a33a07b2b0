/** Drives one stream through one real client and says the outcome of it. */
import type { UIMessage } from 'ai-7';
import { faultsOf } from './faults.ts';
import { untilIdle } from './idle.ts';
import { Page } from './page.ts';
import { ScriptedServer } from './scripted-server.ts';
import { type ChatSdk, chatSdks, type Major } from './sdk.ts';
import { StateWatch } from './state-watch.ts';
import type { Outcome, Stream, Verdict } from './stream.ts';

export type Run = {
  verdict: Verdict;
  /** How many POSTs the client made. */
  requests: number;
  messages: UIMessage[];
};

/** What the verdict rests on: fixed at the first superfluous POST, else at the end. */
type Evidence = { messages: UIMessage[]; sawBack: boolean };

export async function drive(stream: Stream, major: Major): Promise<Run> {
  const sdk = chatSdks[major];
  const watch = new StateWatch();
  const evidence = (): Evidence => ({
    messages: structuredClone(page.state.messages),
    sawBack: watch.sawBack,
  });

  // Answers to superfluous POSTs are ours, not the stream's: they must not count against it.
  let atExtraPost: Evidence | undefined;
  const server = new ScriptedServer(stream.windows, () => {
    atExtraPost = evidence();
  });

  const clientTools = stream.clientTools ?? {};
  let generated = 0;
  const open = (messages: UIMessage[]): Page =>
    new Page({
      sdk,
      messages,
      runTool: ({ toolName }) => {
        const output = Object.hasOwn(clientTools, toolName) ? clientTools[toolName] : undefined;
        return output === undefined ? undefined : { output };
      },
      transport: new sdk.DefaultChatTransport({ fetch: server.fetch }),
      generateId: () => `gen-${++generated}`,
      onWrite: watch.see,
    });
  const idle = (): Promise<void> =>
    untilIdle({
      isBusy: () => page.isBusy,
      activity: () => server.activity + page.state.activity,
    });

  let page = open([]);
  const acts = [...(stream.acts ?? [])];

  page.say('hi');
  await idle();
  while (page.error === undefined && atExtraPost === undefined) {
    const act = acts[0];
    if (act !== undefined && act.after < server.next) {
      acts.shift();
      page.perform(act);
    } else if (server.nextIsResume) {
      page = open(structuredClone(page.state.messages));
      page.resume();
    } else {
      break;
    }
    await idle();
  }

  const verdict =
    atExtraPost !== undefined
      ? await judge('loops', atExtraPost, sdk)
      : page.error !== undefined
        ? { outcome: 'throws' as const, reason: reasonOf(page.error) }
        : await judge(server.hasUnservedWindow ? 'stuck' : 'ok', evidence(), sdk);
  return { verdict, requests: server.posts, messages: page.state.messages };
}

async function judge(outcome: Outcome, evidence: Evidence, sdk: ChatSdk): Promise<Verdict> {
  const wrong = await faultsOf(evidence.messages, sdk);
  if (evidence.sawBack) {
    wrong.push('state-back');
  }
  return wrong.length > 0 ? { outcome, wrong: wrong.sort() } : { outcome };
}

/** Two kinds of error carry a dump of the input in their message; a word is enough for those. */
function reasonOf(error: Error): string {
  switch (error.name) {
    case 'AI_TypeValidationError':
      return 'schema';
    case 'AI_JSONParseError':
      return 'json';
    default:
      return error.message;
  }
}
