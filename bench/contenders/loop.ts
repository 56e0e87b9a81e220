import { z } from 'zod';
import type { Contender } from '../harness/contender.ts';
import { type LookupInput, type Task, question, toolName } from '../harness/task.ts';

interface Call {
  id: string;
  name: string;
  input: unknown;
}
export type LoopMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; text: string; calls: Call[] }
  | { role: 'tool'; results: { id: string; output: string; isError: boolean }[] };

const inputSchema = z.object({ id: z.number().int(), note: z.string() });

/** What somebody writes by hand where he needs nothing but the loop: arguments are checked, errors are told to the model. */
export const runLoop = async (
  ask: (messages: readonly LoopMessage[]) => Promise<Extract<LoopMessage, { role: 'assistant' }>>,
  execute: (input: LookupInput) => string | Promise<string>,
  messages: LoopMessage[],
): Promise<string> => {
  for (;;) {
    const reply = await ask(messages);
    messages.push(reply);
    if (reply.calls.length === 0) return reply.text;
    const results = await Promise.all(
      reply.calls.map(async ({ id, name, input }) => {
        if (name !== toolName) return { id, output: `there is no tool ${name}`, isError: true };
        const checked = inputSchema.safeParse(input);
        if (!checked.success) return { id, output: checked.error.message, isError: true };
        try {
          return { id, output: await execute(checked.data), isError: false };
        } catch (error) {
          return { id, output: String(error), isError: true };
        }
      }),
    );
    messages.push({ role: 'tool', results });
  }
};

export const replyOf = ({
  text = '',
  calls = [],
}: Task['replies'][number]): Extract<LoopMessage, { role: 'assistant' }> => ({
  role: 'assistant',
  text,
  calls: calls.map(({ id, input }) => ({ id, name: toolName, input })),
});

export const contender: Contender = {
  packages: [],
  prepare: (task) => {
    const replies = task.replies.map(replyOf);
    const ask = async (): Promise<Extract<LoopMessage, { role: 'assistant' }>> => replies[task.next()] ?? replyOf({});
    return async () => {
      task.begin();
      task.check(await runLoop(ask, task.execute, [{ role: 'user', content: question }]));
    };
  },
  stream: (task, deltas) => {
    const model = async function* (): AsyncGenerator<string> {
      task.next();
      yield* deltas;
    };
    return async () => {
      task.begin();
      let text = '';
      let count = 0;
      for await (const delta of model()) {
        text += delta;
        count += 1;
      }
      if (count !== deltas.length) throw new Error(`${count} deltas, not ${deltas.length}`);
      task.check(text);
    };
  },
};
