import { HttpAgent, type RunAgentInput } from '@copilotkit/react-core/v2';

/** The agent of the page: AG-UI's own client on adk-stream's route, which can also load a chat. */
export class DurableAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    return new HttpAgent({ url: `${this.url}/connect`, headers: this.headers }).run(input);
  }
}
