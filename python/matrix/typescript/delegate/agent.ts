// An agent that has another as a tool.

import { AgentTool, LlmAgent } from '@google/adk';
import { tools } from '../toolbox.js';

const model = 'gemini-2.5-flash';
const clerk = new LlmAgent({ name: 'clerk', model, description: 'pays', tools });
const asTool = new AgentTool({ agent: clerk });

export const rootAgent = new LlmAgent({ name: 'root', model, tools: [asTool] });
