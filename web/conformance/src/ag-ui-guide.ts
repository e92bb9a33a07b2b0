/** The code of docs/ag-ui.md, which `tests/ag-ui/guide.test.ts` runs. */
import { HttpAgent, type RunAgentInput } from '@ag-ui/client';

export async function askForPayment(chatId: string) {
  const agent = new HttpAgent({ url: '/api/ag-ui', threadId: chatId });
  agent.messages.push({ id: crypto.randomUUID(), role: 'user', content: 'Send $20 to Sam' });
  await agent.runAgent();
  return agent.pendingInterrupts;
}

export class DurableAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    return new HttpAgent({ url: `${this.url}/connect`, headers: this.headers }).run(input);
  }
}
