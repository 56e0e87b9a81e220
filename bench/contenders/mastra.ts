import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import type { Contender } from '../harness/contender.ts';
import { type Task, question, toolDescription, toolName } from '../harness/task.ts';
import { providerModel } from './provider-v4.ts';

const inputSchema = z.object({ id: z.number().int(), note: z.string() });

const agentOf = (task: Task, deltas?: readonly string[]): Agent =>
  new Agent({
    id: 'bench',
    name: 'bench',
    instructions: '',
    model: providerModel(task, deltas),
    tools: {
      [toolName]: createTool({
        id: toolName,
        description: toolDescription,
        inputSchema,
        execute: async (input) => task.execute(input),
      }),
    },
  });

const limits = { maxSteps: 10_000, toolCallConcurrency: 64 };

export const contender: Contender = {
  packages: ['@mastra/core'],
  prepare: (task) => {
    const agent = agentOf(task);
    return async () => {
      task.begin();
      const { text } = await agent.generate(question, limits);
      task.check(text);
    };
  },
  stream: (task, deltas) => {
    const agent = agentOf(task, deltas);
    return async () => {
      task.begin();
      const stream = await agent.stream(question, limits);
      let count = 0;
      for await (const chunk of stream.fullStream) if (chunk.type === 'text-delta') count += 1;
      if (count !== deltas.length) throw new Error(`${count} deltas, not ${deltas.length}`);
      task.check(await stream.text);
    };
  },
};
