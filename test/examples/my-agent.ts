// What the pages take for granted: a module of the reader's own. Its model knows no order, as the programs of a page share it.
import { z } from 'zod';
import { createAgent, textOf, tool } from '../../src/index.ts';
import { forgetfulModel } from '../support/models.ts';

const pay = tool({
  name: 'Pay',
  inputSchema: z.object({ to: z.string() }),
  needsApproval: true,
  execute: ({ to }) => `${to} is paid`,
});

export const tools = [pay];
export const model = forgetfulModel(({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === 'tool') return 'Done: Mei is paid.';
  const asksToPay = last !== undefined && textOf(last).startsWith('Pay');
  return asksToPay ? { toolCalls: [{ name: 'Pay', input: { to: 'Mei' } }] } : 'Altdorf.';
});
export const agent = createAgent({ model, tools });
