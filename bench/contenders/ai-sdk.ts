import { type ModelMessage, generateText, isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import type { Contender } from '../harness/contender.ts';
import { type Task, question, toolDescription, toolName } from '../harness/task.ts';
import { providerModel } from './provider-v4.ts';

const inputSchema = z.object({ id: z.number().int(), note: z.string() });
const stopWhen = isStepCount(10_000);

const toolsOf = (task: Task, needsApproval = false) => ({
  [toolName]: tool({
    description: toolDescription,
    inputSchema,
    needsApproval,
    execute: (input) => task.execute(input),
  }),
});

export const contender: Contender = {
  packages: ['ai'],
  prepare: (task) => {
    const model = providerModel(task);
    const tools = toolsOf(task);
    return async () => {
      task.begin();
      const { text } = await generateText({ model, tools, stopWhen, prompt: question });
      task.check(text);
    };
  },
  stream: (task, deltas) => {
    const model = providerModel(task, deltas);
    return async () => {
      task.begin();
      const stream = streamText({ model, tools: toolsOf(task), stopWhen, prompt: question });
      let count = 0;
      for await (const part of stream.fullStream) if (part.type === 'text-delta') count += 1;
      if (count !== deltas.length) throw new Error(`${count} deltas, not ${deltas.length}`);
      task.check(await stream.text);
    };
  },
  pause: (task) => {
    const model = providerModel(task);
    const tools = toolsOf(task, true);
    return async () => {
      task.begin();
      const result = await generateText({ model, tools, stopWhen, prompt: question });
      const request = result.content.find((part) => part.type === 'tool-approval-request');
      if (request === undefined) throw new Error('nobody is asked');
      // All that the kit needs to go on.
      return { messages: [{ role: 'user', content: question }, ...result.responseMessages], request };
    };
  },
  resume: async (task) => {
    const model = providerModel(task);
    const tools = toolsOf(task, true);
    const goOn = async (messages: ModelMessage[]) => {
      const result = await generateText({ model, tools, stopWhen, messages });
      return { text: result.text, messages: [...messages, ...result.responseMessages] };
    };
    const approved = (messages: ModelMessage[]): ModelMessage[] => {
      const last = messages.findLast(({ role }) => role === 'assistant');
      const parts = last === undefined || typeof last.content === 'string' ? [] : last.content;
      const request = parts.find((part) => part.type === 'tool-approval-request');
      if (request?.type !== 'tool-approval-request') throw new Error('nobody is asked');
      return [
        ...messages,
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }] },
      ];
    };
    task.begin();
    let { messages } = await goOn([{ role: 'user', content: question }]);
    for (let left = task.calls - 1; left > 0; left -= 1) ({ messages } = await goOn(approved(messages)));
    return {
      json: JSON.stringify(messages),
      // A run that waits is its messages: there is nothing to wake.
      wake: async (json) => JSON.parse(json),
      finish: async (json) => {
        const { text } = await goOn(approved(JSON.parse(json) as ModelMessage[]));
        task.check(text);
      },
    };
  },
};
