// @vitest-environment happy-dom
/** assistant-ui on a durable chat, with the real server: it depends on version 7, and is not tested with 6. */
import { type AssistantRuntime, AssistantRuntimeProvider } from '@assistant-ui/react';
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { createRoot } from 'react-dom/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Server } from '../../../conformance/src/server/server.ts';
import { until } from '../../../conformance/src/server/until.ts';
import { durableChats } from '../../src/durable-chats.ts';
import { useDurableChat } from '../../src/react.ts';
import { AdkStreamChatTransport } from '../../src/transport.ts';

let server: Server;

beforeAll(async () => {
  server = await Server.start({ store: 'memory', isOpen: true });
  setUrl(server.url);
});
afterAll(async () => {
  setUrl('about:blank');
  await server.stop();
});

test('a tool UI that gives its result with the approval does not lose it', async () => {
  const chats = durableChats({ profile: 'v7' });
  let runtime: AssistantRuntime | undefined;
  function Page() {
    const chat = useDurableChat({ id: 'assistant-ui', isNew: true, chats });
    runtime = useAISDKRuntime(chat);
    return <AssistantRuntimeProvider runtime={runtime}>{null}</AssistantRuntimeProvider>;
  }
  const root = createRoot(document.createElement('main'));
  root.render(<Page />);
  const { thread } = await until('it is there', () => runtime);
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
  root.unmount();
  if (chats.transport instanceof AdkStreamChatTransport) {
    chats.transport.close();
  }
});

const setUrl = (url: string) =>
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(url);
