import {
  Agent,
  type Model,
  type ModelResponse,
  RunState,
  Runner,
  Usage,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { z } from 'zod';
import type { Contender } from '../harness/contender.ts';
import { type Task, question, toolDescription, toolName } from '../harness/task.ts';

setTracingDisabled(true);

const inputSchema = z.object({ id: z.number().int(), note: z.string() });

const outputOf = ({ text, calls = [] }: Task['replies'][number]): ModelResponse['output'] => [
  ...(text === undefined
    ? []
    : [
        {
          type: 'message' as const,
          role: 'assistant' as const,
          status: 'completed' as const,
          content: [{ type: 'output_text' as const, text }],
        },
      ]),
  ...calls.map(({ id, input }) => ({
    type: 'function_call' as const,
    callId: id,
    name: toolName,
    status: 'completed' as const,
    arguments: JSON.stringify(input),
  })),
];

const modelOf = (task: Task, deltas: readonly string[] = []): Model => {
  const outputs = task.replies.map(outputOf);
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  return {
    getResponse: async () => ({ usage: new Usage(usage), output: outputs[task.next()] ?? [] }),
    getStreamedResponse: async function* () {
      const output = outputs[task.next()] ?? [];
      yield { type: 'response_started' };
      for (const delta of deltas) yield { type: 'output_text_delta', delta };
      yield { type: 'response_done', response: { id: 'reply', usage, output: output as never } };
    },
  };
};

const agentOf = (task: Task, { deltas = [] as readonly string[], needsApproval = false } = {}) =>
  new Agent({
    name: 'bench',
    model: modelOf(task, deltas),
    tools: [
      tool({
        name: toolName,
        description: toolDescription,
        parameters: inputSchema,
        needsApproval,
        execute: (input) => task.execute(input),
      }),
    ],
  });

const maxTurns = 100_000;
const runnerOf = (): Runner => new Runner({ tracingDisabled: true, toolExecution: { maxFunctionToolConcurrency: 64 } });

export const contender: Contender = {
  packages: ['@openai/agents'],
  prepare: (task) => {
    const agent = agentOf(task);
    const runner = runnerOf();
    return async () => {
      task.begin();
      const { finalOutput } = await runner.run(agent, question, { maxTurns });
      task.check(String(finalOutput));
    };
  },
  stream: (task, deltas) => {
    const agent = agentOf(task, { deltas });
    const runner = runnerOf();
    return async () => {
      task.begin();
      const stream = await runner.run(agent, question, { maxTurns, stream: true });
      let count = 0;
      for await (const event of stream) {
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') count += 1;
      }
      if (count !== deltas.length) throw new Error(`${count} deltas, not ${deltas.length}`);
      task.check(String(stream.finalOutput));
    };
  },
  pause: (task) => {
    const agent = agentOf(task, { needsApproval: true });
    const runner = runnerOf();
    return async () => {
      task.begin();
      const { interruptions, state } = await runner.run(agent, question, { maxTurns });
      if (interruptions.length !== 1) throw new Error('nobody is asked');
      return state;
    };
  },
  resume: async (task) => {
    const agent = agentOf(task, { needsApproval: true });
    const runner = runnerOf();
    task.begin();
    let result = await runner.run(agent, question, { maxTurns });
    const goOn = async (state: (typeof result)['state']) => {
      const [item] = state.getInterruptions();
      if (item === undefined) throw new Error('nobody is asked');
      state.approve(item);
      return runner.run(agent, state, { maxTurns });
    };
    for (let left = task.calls - 1; left > 0; left -= 1) result = await goOn(result.state);
    const wake = (json: string) => RunState.fromString<undefined, typeof agent>(agent, json);
    return {
      json: JSON.stringify(result.state),
      wake,
      finish: async (json) => {
        const { finalOutput } = await goOn(await wake(json));
        task.check(String(finalOutput));
      },
    };
  },
};
