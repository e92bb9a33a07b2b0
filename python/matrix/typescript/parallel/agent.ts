// Two agents side by side.

import { LlmAgent, ParallelAgent } from '@google/adk';
import { tools } from '../toolbox.js';

const model = 'gemini-2.5-flash';
const left = new LlmAgent({ name: 'left', model, tools, instruction: 'left' });
const right = new LlmAgent({ name: 'right', model, tools, instruction: 'right' });

export const rootAgent = new ParallelAgent({ name: 'parallel', subAgents: [left, right] });
