import { CopilotKitProvider } from '@copilotkit/react-core/v2';
import { createRoot } from 'react-dom/client';
import { Chat } from './Chat.tsx';
import { DurableAgent } from './DurableAgent.ts';

// The address names the chat, so that a reload finds it again.
location.hash ||= crypto.randomUUID();

const agents = {
  default: new DurableAgent({
    url: new URL('/api/ag-ui', location.href).href,
    threadId: location.hash.slice(1),
  }),
};

const page = document.getElementById('page');
if (page !== null) {
  createRoot(page).render(
    // Without a runtime of CopilotKit's, and without its inspector, which asks its maker for news.
    <CopilotKitProvider selfManagedAgents={agents} enableInspector={false}>
      <Chat />
    </CopilotKitProvider>,
  );
}
