import { type Script, dataOf } from './conversation.ts';

interface Transfer {
  to: string;
  amount: number;
  balance: number;
}

/** Looks at the balance, transfers what was asked, and says what became of it. */
export const expenseScript: Script = ({ question, results }) => {
  const [, amount, to] = /^Pay (\d+) to (\w+)/.exec(question) ?? [];
  if (amount === undefined || to === undefined) return undefined;
  const [balance, transfer] = results;
  if (balance === undefined) return { calls: [{ name: 'GetBalance', input: {} }] };
  if (transfer === undefined) return { calls: [{ name: 'Transfer', input: { to, amount: Number(amount) } }] };
  const done = dataOf<Transfer>(transfer);
  if (done === undefined) return { text: `Nothing was transferred. ${transfer.text}` };
  return { text: `${done.amount} went to ${done.to}; ${done.balance} are left.` };
};
