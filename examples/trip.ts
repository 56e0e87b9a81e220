import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatModel, createAgent, tool } from 'agentchart';
import { z } from 'zod';

export const tripQuestion =
  'I am in Shanghai. Compare the weather in Suzhou and Hangzhou, then book me a train to the drier one.';

const forecasts: Record<string, { condition: string; celsius: number; rainChance: number }> = {
  Suzhou: { condition: 'light rain', celsius: 16, rainChance: 80 },
  Hangzhou: { condition: 'partly cloudy', celsius: 19, rainChance: 10 },
};
const anyOther = { condition: 'sunny', celsius: 22, rainChance: 0 };

const getWeather = tool({
  name: 'GetWeather',
  description: 'The weather of a city, today',
  inputSchema: z.object({ location: z.string().describe('English name of the city') }),
  annotations: { readOnly: true },
  execute: async ({ location }, { signal }) => {
    await sleep(400, undefined, { signal });
    return { location, ...(forecasts[location] ?? anyOther) };
  },
});

const bookTrain = tool({
  name: 'BookTrain',
  description: 'Books train tickets and pays for them',
  inputSchema: z.object({ from: z.string(), to: z.string(), seats: z.number().int().min(1).max(9) }),
  needsApproval: true,
  execute: async ({ to, seats }, { signal }) => {
    await sleep(300, undefined, { signal });
    return { train: 'G7349', to, seats, price: 73 * seats };
  },
});

/** An agent that may look at the weather by itself, and must ask before it spends money. */
export const createTripAgent = (model: ChatModel) =>
  createAgent({
    name: 'trip',
    model,
    instructions: 'Ask for the weather of all cities at once. Answer in two sentences, without formatting.',
    tools: [getWeather, bookTrain],
    limits: { maxIterations: 8 },
  });
