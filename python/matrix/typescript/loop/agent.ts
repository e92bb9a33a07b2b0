// An agent that is run twice.

import { LlmAgent, LoopAgent } from '@google/adk';
import { tools } from '../toolbox.js';

const model = 'gemini-2.5-flash';
const worker = new LlmAgent({ name: 'worker', model, tools });

export const rootAgent = new LoopAgent({ name: 'loop', subAgents: [worker], maxIterations: 2 });
