// @vitest-environment happy-dom
/** assistant-ui on a durable chat, with the real server: it depends on version 7, and is not tested with 6. */
import {
  type AssistantRuntime,
  AssistantRuntimeProvider,
  useAssistantTool,
} from '@assistant-ui/react';
import { AssistantChatTransport, useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { useEffect, useMemo } from 'react';
import { createRoot } from 'react-dom/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Api } from '../../../conformance/src/server/api.ts';
import { Server } from '../../../conformance/src/server/server.ts';
import { until } from '../../../conformance/src/server/until.ts';
import { type DurableChats, durableChats } from '../../src/durable-chats.ts';
import { useDurableChat } from '../../src/react.ts';
import { AdkStreamChatTransport } from '../../src/transport.ts';
import { withErrors } from '../../src/with-errors.ts';

let demo: Server;
let painter: Server;
const leaves: (() => void)[] = [];

beforeAll(async () => {
  // The emulator is another origin: it is asked by the test, not by the page.
  happyDom().settings.fetch.disableSameOriginPolicy = true;
  demo = await Server.start({ store: 'memory', isOpen: true });
  painter = await Server.start({
    agent: 'gemini',
    store: 'memory',
    isOpen: true,
    // The calls are scripted, and not signed.
    emulatorFlags: ['--signatures', 'never'],
    agentFile: `
[agents.painter]
model = "gemini:gemini-3-flash"
page-tools = { names = ["pick_*"], allow = ["pick_*"] }
`,
  });
});
afterEach(() => {
  for (const leave of leaves.splice(0)) {
    leave();
  }
});
afterAll(async () => {
  setUrl('about:blank');
  happyDom().settings.fetch.disableSameOriginPolicy = false;
  await demo.stop();
  await painter.stop();
});

type PageProps = {
  id: string;
  chats: DurableChats;
  onRuntime: (runtime: AssistantRuntime) => void;
};

function Page({ id, chats, onRuntime }: PageProps) {
  const runtime = useAISDKRuntime(useDurableChat({ id, isNew: true, chats }));
  onRuntime(runtime);
  return <AssistantRuntimeProvider runtime={runtime}>{null}</AssistantRuntimeProvider>;
}

const ran: unknown[] = [];

/** A page that declares a tool with its requests, as assistant-ui has it, and runs it. */
function PainterPage({ id, chats, onRuntime }: PageProps) {
  const transport = useMemo(
    () =>
      new AssistantChatTransport({
        // assistant-ui would name its own thread.
        prepareSendMessagesRequest: ({ body, messages, trigger, messageId }) => ({
          body: { ...body, id, messages, trigger, messageId },
        }),
        prepareReconnectToStreamRequest: chats.prepareReconnectToStreamRequest,
      }),
    [id, chats],
  );
  const chat = useDurableChat({ id, isNew: true, chats, transport: withErrors(transport) });
  const runtime = useAISDKRuntime(chat);
  useEffect(() => transport.setRuntime(runtime), [transport, runtime]);
  onRuntime(runtime);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Palette />
    </AssistantRuntimeProvider>
  );
}

function Palette() {
  useAssistantTool({
    toolName: 'pick_color',
    description: 'Has the user pick a colour.',
    parameters: {
      type: 'object',
      properties: { what: { type: 'string' } },
      required: ['what'],
      additionalProperties: false,
    },
    execute: async input => {
      ran.push(input);
      return 'blue';
    },
  });
  return null;
}

/** Mounts a page on a chat of a server. */
async function open(server: Server, id: string, Mounted = Page) {
  setUrl(server.url);
  const chats = durableChats({ profile: 'v7' });
  let runtime: AssistantRuntime | undefined;
  const root = createRoot(document.createElement('main'));
  root.render(
    <Mounted
      id={id}
      chats={chats}
      onRuntime={made => {
        runtime = made;
      }}
    />,
  );
  leaves.push(() => {
    root.unmount();
    if (chats.transport instanceof AdkStreamChatTransport) {
      chats.transport.close();
    }
  });
  const { thread } = await until('it is there', () => runtime);
  const text = () => JSON.stringify(thread.getState().messages.map(({ content }) => content));
  /** Says something, and resolves when it is answered. */
  const says = async (words: string, answer: RegExp) => {
    await until('it is idle', () => !thread.getState().isRunning);
    thread.append(words);
    await until(`${answer}`, () => !thread.getState().isRunning && answer.test(text()));
  };
  return { thread, text, says };
}

/** What was said in a chat, as the server has it. */
async function saidIn(server: Server, id: string): Promise<string[]> {
  const chat = await new Api(() => server.url, undefined).chat(id);
  return (chat?.messages ?? []).flatMap(({ role, parts }) =>
    role === 'user' ? parts.map(part => (part.type === 'text' ? part.text : part.type)) : [],
  );
}

test('a tool UI that gives its result with the approval does not lose it', async () => {
  const { thread } = await open(demo, 'assistant-ui');
  thread.append('Where am I?');
  const asked = () => {
    const part = thread.getState().messages[1]?.content.find(({ type }) => type === 'tool-call');
    return part?.type === 'tool-call' ? part : undefined;
  };
  const { toolCallId } = await until('it is asked', () => {
    const part = asked();
    return part?.approval?.prompt === undefined ? undefined : part;
  });
  const part = thread.getMessageByIndex(1).getMessagePartByToolCallId(toolCallId);
  void part.respondToToolApproval({ approved: true });
  part.addToolResult({ latitude: 59.91, longitude: 10.75, city: 'Oslo' });
  await until('the agent has it', () =>
    JSON.stringify(thread.getState().messages.at(-1)?.content).includes('59.91, 10.75'),
  );
  expect(asked()?.result).toMatchObject({ city: 'Oslo' });
});

test('an edit is one at the server, of the first message too and at once', async () => {
  const { thread, says, text } = await open(demo, 'edited');
  await says('What is the weather in Oslo?', /Oslo.*°C/);
  await says('And what is the weather in Rome?', /Rome.*°C/);
  const { composer } = thread.getMessageByIndex(0);
  composer.beginEdit();
  composer.setText('What is the weather in Paris?');
  composer.send();
  await until('it is answered', () => !thread.getState().isRunning && /Paris.*°C/.test(text()));
  expect(await saidIn(demo, 'edited')).toEqual(['What is the weather in Paris?']);
  await says('And what is the weather in Tokyo?', /Tokyo.*°C/);
  expect(await saidIn(demo, 'edited')).toHaveLength(2);
  expect(thread.getState().messages).toHaveLength(4);
});

test('the branch that is gone back to is the one that the server goes on with', async () => {
  const { thread, says, text } = await open(demo, 'branches');
  await says('What is the weather in Oslo?', /Oslo.*°C/);
  const first = thread.getMessageByIndex(0);
  first.composer.beginEdit();
  first.composer.setText('What is the weather in Paris?');
  first.composer.send();
  await until('it is answered', () => !thread.getState().isRunning && /Paris.*°C/.test(text()));
  expect(thread.getMessageByIndex(0).getState()).toMatchObject({ branchNumber: 2, branchCount: 2 });

  thread.getMessageByIndex(0).switchToBranch({ position: 'previous' });
  await until('the server has switched, too', async () =>
    (await saidIn(demo, 'branches')).includes('What is the weather in Oslo?'),
  );
  await says('And what is the weather in Rome?', /Rome.*°C/);
  const said = ['What is the weather in Oslo?', 'And what is the weather in Rome?'];
  expect(await saidIn(demo, 'branches')).toEqual(said);
  expect(thread.getMessageByIndex(0).getState().branchCount).toBe(2);

  // Another try is a branch, too.
  thread.getMessageByIndex(3).reload();
  await until(
    'it is answered again',
    () => thread.getMessageByIndex(3).getState().branchCount === 2,
  );
  await until('all of it', () => !thread.getState().isRunning);
  expect(await saidIn(demo, 'branches')).toEqual(said);
  expect(thread.getState().messages).toHaveLength(4);
});

test('a tool that the page declares reaches the agent, and runs in the page', async () => {
  const { says, thread } = await open(painter, 'painter', PainterPage);
  const call = { functionCall: { name: 'pick_color', args: { what: 'sky' } } };
  const content = { role: 'model', parts: [call] };
  const chunk = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
  await painter.emulator.follow([{ on: 'generate', nth: 1, respond: [chunk] }]);
  await says('Paint the sky', /blue/);
  expect(ran).toEqual([{ what: 'sky' }]);
  const requests = await painter.emulator.requests();
  expect(JSON.stringify(requests[0]?.tools)).toContain('Has the user pick a colour.');
  expect(JSON.stringify(requests[1]?.contents)).toContain('blue');
  expect(thread.getState().messages).toHaveLength(2);
});

type HappyDom = {
  setURL: (url: string) => void;
  settings: { fetch: { disableSameOriginPolicy: boolean } };
};

const happyDom = () => (window as unknown as { happyDOM: HappyDom }).happyDOM;

const setUrl = (url: string) => happyDom().setURL(url);
