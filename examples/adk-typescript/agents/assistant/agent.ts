// The assistant for `adk-stream serve --agent adk`, over /run_sse.

import { FunctionTool, LlmAgent, LongRunningFunctionTool } from '@google/adk';
import { z } from 'zod';
import { pay } from './wallet.js';

const WEATHER: Record<string, { temperature: number; condition: string; humidity: number }> = {
  tokyo: { temperature: 18, condition: 'Cloudy', humidity: 65 },
  'san francisco': { temperature: 15, condition: 'Foggy', humidity: 80 },
  london: { temperature: 12, condition: 'Rainy', humidity: 85 },
  'new york': { temperature: 10, condition: 'Sunny', humidity: 50 },
};

// ADK's own confirmation, which adk-stream shows as an approval.
const processPayment = new FunctionTool({
  name: 'process_payment',
  description: "Sends money from the user's wallet.",
  parameters: z.object({
    amount: z.number(),
    recipient: z.string(),
    currency: z.string().default('USD'),
    description: z.string().default(''),
  }),
  requireConfirmation: true,
  execute: (payment, context) => pay(context?.userId ?? '', context?.functionCallId ?? '', payment),
});

const getWeather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ location: z.string() }),
  execute: ({ location }) => ({
    ...(WEATHER[location.toLowerCase()] ?? { temperature: 20, condition: 'Unknown', humidity: 60 }),
    location,
  }),
});

// A long-running tool that returns nothing: the page runs it, and adk-stream sends the result.
const changeBgm = new LongRunningFunctionTool({
  name: 'change_bgm',
  description: 'Changes the background music to track 1 or 2.',
  parameters: z.object({ track: z.number() }),
  execute: () => undefined,
});

// The same, behind a question.
const getLocation = new LongRunningFunctionTool({
  name: 'get_location',
  description: 'Tells where the user is.',
  parameters: z.object({}),
  execute: (_, context) => {
    if (context && !context.toolConfirmation) {
      context.requestConfirmation({ hint: 'Tell the assistant where you are?' });
      // Otherwise the model gets the error before anybody has answered.
      context.actions.skipSummarization = true;
      return { error: 'This tool call requires confirmation, please approve or reject.' };
    }
    return context?.toolConfirmation?.confirmed ? undefined : { error: 'Denied' };
  },
});

export const rootAgent = new LlmAgent({
  name: 'assistant',
  model: process.env.ASSISTANT_MODEL ?? 'gemini-flash-latest',
  instruction: 'You help with payments, the weather and music. Be brief.',
  tools: [processPayment, getWeather, changeBgm, getLocation],
});
