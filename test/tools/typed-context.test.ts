import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { type ApprovalContext, type ToolContext, tool } from '../../src/tools/tool.ts';
import { call, calls } from '../support/tools.ts';

interface App {
  user: string;
  limit: number;
}

test('the context of a turn has the type that a tool says, its input that of its schema and its result its own', async () => {
  const pay = tool({
    name: 'pay',
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: ({ amount }, { context }: ApprovalContext<App>) => {
      expectTypeOf(amount).toEqualTypeOf<number>();
      return amount > context.limit;
    },
    execute: ({ amount }, { context }: ToolContext<App>) => {
      expectTypeOf(amount).toEqualTypeOf<number>();
      expectTypeOf(context).toEqualTypeOf<App>();
      return { paid: amount, by: context.user };
    },
    toModelOutput: (output) => {
      expectTypeOf(output).toEqualTypeOf<{ paid: number; by: string }>();
      return { type: 'text', value: `${output.by} paid ${output.paid}` };
    },
  });
  const plain = tool({
    name: 'plain',
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }, ctx) => {
      expectTypeOf(n).toEqualTypeOf<number>();
      expectTypeOf(ctx.context).toEqualTypeOf<unknown>();
      return n;
    },
  });
  const model = scriptedModel([calls(call('pay', { amount: 5 }), call('plain', { n: 1 })), 'Done.']);
  const context: App = { user: 'Ann', limit: 10 };
  const { messages, text } = await createAgent({ model, tools: [pay, plain] }).run('Pay', { context });
  expect(text).toBe('Done.');
  expect(JSON.stringify(messages)).toContain('Ann paid 5');
});
