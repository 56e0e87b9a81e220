import { assign, createActor, fromPromise, sendParent, setup, stopChild, toPromise } from 'xstate';
import { z } from 'zod';
import type { Contender } from '../harness/contender.ts';
import { type LookupInput, type Task, question } from '../harness/task.ts';

/**
 * What XState itself costs for the steps of an agent: a model and every call are actors, a call is a chart of its own, the results stand
 * in the context. Nothing else of what an agent does is here, so it is the floor of one that is built so.
 */
type Reply = Task['replies'][number];
type Call = NonNullable<Reply['calls']>[number];
interface Message {
  role: 'user' | 'assistant' | 'tool';
  text?: string;
  calls?: readonly Call[];
  results?: readonly { id: string; output: string }[];
}
interface Context {
  messages: readonly Message[];
  open: Readonly<Record<string, string | undefined>>;
  left: number;
}

const inputSchema = z.object({ id: z.number().int(), note: z.string() });

const machineOf = (task: Task) => {
  const tool = fromPromise<string, LookupInput>(async ({ input }) => task.execute(inputSchema.parse(input)));
  const call = setup({
    types: { context: {} as { call: Call; output: string }, input: {} as { call: Call } },
    actors: { tool },
    actions: {
      keep: assign((_, { output }: { output: string }) => ({ output })),
      report: sendParent(({ context }) => ({ type: 'reported', id: context.call.id, output: context.output })),
    },
  }).createMachine({
    context: ({ input }) => ({ call: input.call, output: '' }),
    initial: 'running',
    states: {
      running: {
        invoke: {
          id: 'tool',
          src: 'tool',
          input: ({ context }) => context.call.input,
          onDone: { target: 'settled', actions: { type: 'keep', params: ({ event }) => event } },
        },
      },
      settled: { entry: 'report' },
    },
  });
  return setup({
    types: {
      context: {} as Context,
      events: {} as { type: 'reported'; id: string; output: string },
      output: {} as string,
    },
    actors: { model: fromPromise<Reply>(async () => task.replies[task.next()] ?? {}), call },
    guards: {
      hasCalls: (_, { output }: { output: Reply }) => (output.calls ?? []).length > 0,
      isWhole: ({ context }) => context.left === 0,
    },
    actions: {
      begin: assign(({ context, spawn }, { output }: { output: Reply }) => {
        const { calls = [] } = output;
        for (const each of calls) spawn('call', { id: each.id, input: { call: each } });
        return { messages: [...context.messages, { role: 'assistant' as const, calls }], left: calls.length, open: {} };
      }),
      note: assign(({ context }, { id, output }: { id: string; output: string }) => ({
        open: { ...context.open, [id]: output },
        left: context.left - 1,
      })),
      end: assign(({ context }) => ({
        messages: [
          ...context.messages,
          {
            role: 'tool' as const,
            results: Object.entries(context.open).map(([id, output = '']) => ({ id, output })),
          },
        ],
      })),
      answer: assign(({ context }, { output }: { output: Reply }) => ({
        messages: [...context.messages, { role: 'assistant' as const, text: output.text ?? '' }],
      })),
    },
  }).createMachine({
    context: { messages: [{ role: 'user', text: question }], open: {}, left: 0 },
    initial: 'asking',
    output: ({ context }) => context.messages.at(-1)?.text ?? '',
    states: {
      asking: {
        invoke: {
          id: 'model',
          src: 'model',
          onDone: [
            {
              guard: { type: 'hasCalls', params: ({ event }) => event },
              target: 'acting',
              actions: { type: 'begin', params: ({ event }) => event },
            },
            { target: 'done', actions: { type: 'answer', params: ({ event }) => event } },
          ],
        },
      },
      acting: {
        on: {
          reported: { actions: [{ type: 'note', params: ({ event }) => event }, stopChild(({ event }) => event.id)] },
        },
        always: { guard: 'isWhole', target: 'asking', actions: 'end' },
      },
      done: { type: 'final' },
    },
  });
};

export const contender: Contender = {
  packages: ['xstate'],
  prepare: (task) => {
    const machine = machineOf(task);
    return async () => {
      task.begin();
      task.check(await toPromise(createActor(machine).start()));
    };
  },
};
