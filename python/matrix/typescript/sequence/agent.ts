// Two agents, one after the other.

import { LlmAgent, SequentialAgent } from '@google/adk';
import { tools } from '../toolbox.js';

const model = 'gemini-2.5-flash';
const first = new LlmAgent({ name: 'first', model, tools });
const second = new LlmAgent({ name: 'second', model, tools });

export const rootAgent = new SequentialAgent({ name: 'sequence', subAgents: [first, second] });
