// An agent as most are, with another to hand over to.

import { LlmAgent } from '@google/adk';
import { tools } from '../toolbox.js';

const model = 'gemini-2.5-flash';
const helper = new LlmAgent({ name: 'helper', model, description: 'helps', tools });

export const rootAgent = new LlmAgent({ name: 'root', model, tools, subAgents: [helper] });
