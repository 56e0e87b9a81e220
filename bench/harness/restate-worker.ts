// A worker of the engine, in a process of its own. What a turn does is said by its question: how many rounds of how many calls, and how long each takes.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type AgentOptions, type ChatModel, createAgent, textOf, tool } from '../../src/index.ts';
import { restateWorker } from '../../src/restate/index.ts';
import { type Question, answer, limits } from './restate.ts';

const lookup = tool({
  name: 'lookup',
  inputSchema: z.object({ id: z.number(), ms: z.number() }),
  annotations: { readOnly: true },
  execute: async ({ id, ms }) => {
    if (ms > 0) await pause(ms);
    return `entry ${id}`;
  },
});

const model: ChatModel = {
  name: 'scripted',
  generate: async ({ messages }) => {
    const start = messages.findLastIndex(({ role }) => role === 'user');
    const asked = messages[start];
    const { rounds, calls, ms }: Question = JSON.parse(asked === undefined ? '{}' : textOf(asked));
    const round = messages.slice(start).filter(({ role }) => role === 'assistant').length;
    const toolCalls = Array.from({ length: round < rounds ? calls : 0 }, (_, id) => ({
      type: 'tool-call' as const,
      toolCallId: `${round}-${id}`,
      toolName: 'lookup',
      input: { id, ms },
    }));
    const isOver = toolCalls.length === 0;
    return {
      message: { role: 'assistant', content: isOver ? [{ type: 'text', text: answer }] : toolCalls },
      finishReason: isOver ? 'stop' : 'tool-calls',
    };
  },
};

export const benchAgent = (options: Partial<AgentOptions> = {}) =>
  createAgent({ name: 'bench', model, tools: [lookup], ...limits, ...options });

if (import.meta.main) console.log(await restateWorker({ agents: benchAgent() }).listen());
