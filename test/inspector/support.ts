import { z } from 'zod';
import { createAgent, tool } from '../../src/index.ts';
import { encodeEvent } from '../../src/inspector/encode.ts';
import type { EventLog } from '../../src/inspector/event-log.ts';
import type { ProtocolEvent } from '../../src/inspector/protocol.ts';
import { type ViewState, reduceView } from '../../src/inspector/view-state.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

export const eventsOf = (log: EventLog): ProtocolEvent[] => [...log.after(0, Infinity)];

/** What a viewer has that gets the log as text. */
export const viewOf = (log: EventLog, from: ViewState = log.base()): ViewState =>
  eventsOf(log).reduce((view, event) => reduceView(view, JSON.parse(encodeEvent(event)) as ProtocolEvent), from);

/** The weather of two cities at once, then a booking that somebody has to approve. */
export const tripAgent = (toolsOf: { onBook?: (input: { seats: number }) => void } = {}) => {
  const getWeather = tool({
    name: 'GetWeather',
    description: 'The weather of a city',
    inputSchema: z.object({ location: z.string() }),
    execute: ({ location }) => ({ location, celsius: 16 }),
  });
  const bookTrain = tool({
    name: 'BookTrain',
    description: 'Books train tickets and pays for them',
    inputSchema: z.object({ to: z.string(), seats: z.number().int().min(1).max(9) }),
    needsApproval: true,
    execute: ({ to, seats }) => {
      toolsOf.onBook?.({ seats });
      return { train: 'G7349', to, seats };
    },
  });
  const tools = [getWeather, bookTrain];
  const limits = { maxIterations: 8, maxTokens: 20_000 };
  const model = scriptedModel([
    {
      text: 'I look at both.',
      toolCalls: [
        { name: 'GetWeather', input: { location: 'Suzhou' } },
        { name: 'GetWeather', input: { location: 'Hangzhou' } },
      ],
      usage: { inputTokens: 800, outputTokens: 60 },
    },
    { text: 'I book.', toolCalls: [{ name: 'BookTrain', input: { to: 'Hangzhou', seats: 1 } }] },
    'Your train is booked.',
  ]);
  const agent = createAgent({ name: 'trip', model, tools, limits });
  return { agent, model, inspected: { ...agent, tools, limits } };
};
