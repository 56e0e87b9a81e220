import { type AgentOptions, type ChatModel, createAgent, tool } from 'agentchart';
import { z } from 'zod';
import { openLedger } from './ledger.ts';

/** Pays small amounts by itself, and needs a manager for more than 5000. */
export const createExpenseAgent = (model: ChatModel, file: string, options: Partial<AgentOptions> = {}) => {
  const ledger = openLedger(file);

  const getBalance = tool({
    name: 'GetBalance',
    description: 'What is left on the account',
    inputSchema: z.object({}),
    annotations: { readOnly: true },
    execute: () => ({ balance: ledger.balance() }),
  });

  const transfer = tool({
    name: 'Transfer',
    description: 'Moves money from the account to somebody',
    inputSchema: z.object({ to: z.string().min(1), amount: z.number().positive() }),
    needsApproval: ({ amount }) => amount > 5000,
    // The ledger knows the key: after a crash the call may run again.
    annotations: { idempotent: true },
    execute: ({ to, amount }, { idempotencyKey }) => ledger.transfer({ key: idempotencyKey, to, amount }),
  });

  return createAgent({
    ...options,
    name: 'expense',
    model,
    instructions: 'Look at the balance first. Transfer what was asked, or say why not.',
    tools: [getBalance, transfer],
    detailedErrors: true,
  });
};
