// An approval that may take days: this process stops while it waits, another one continues with the decision.
// `npx node --conditions=agentchart-source examples/expense.ts`, with:
//   "Pay 8000 to Mei"      exit status 3: the session waits in .sessions/expense.json, or in --file F
//   --approve | --reject REASON | --edit '{"amount":4000}'
import { existsSync, readFileSync } from 'node:fs';
import type { PendingCall, RunResult, Session } from 'agentchart';
import { createExpenseAgent } from './expense/create-expense-agent.ts';
import { type Decision, readFlags } from './expense/read-flags.ts';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeJson, escapeText } from './terminal/escape-text.ts';
import { saveSession } from './terminal/save-session.ts';
import { runMain } from './terminal/run-main.ts';
import { UsageError } from './terminal/usage-error.ts';

/** The hash says which arguments were looked at: a decision on others is refused. */
const decide = (
  session: Session,
  { edit, reject }: Decision,
  { callId, input, inputHash }: PendingCall,
): Promise<void> => {
  const given = { inputHash, by: 'manager' };
  if (reject !== undefined) return session.reject(callId, { ...given, reason: reject });
  if (edit === undefined) return session.approve(callId, given);
  return session.approve(callId, { ...given, input: { ...Object(input), ...edit } });
};

const report = ({ outcome, text, pending }: RunResult, file: string): number => {
  if (outcome.type !== 'pending') {
    console.log(text === '' ? outcome.type : escapeText(text));
    return outcome.type === 'answered' ? 0 : 1;
  }
  for (const { tool, input } of pending) console.log(`waiting for a manager: ${tool} ${escapeJson(input)}`);
  console.log(`the session is in ${file}; decide with --approve, --reject REASON or --edit JSON`);
  return 3;
};

const main = async (): Promise<number> => {
  const { file, ledger, decision, message } = readFlags();
  if (decision && !existsSync(file)) throw new UsageError(`There is no session in ${file}; ask for a payment first.`);
  const { model, about, close } = await chooseModel();
  console.log(about);
  try {
    const agent = createExpenseAgent(model, ledger);
    const session = decision ? agent.restore(readFileSync(file, 'utf8')) : await agent.open();
    if (decision && session.pending.length === 0) console.log('nothing waits for a decision any more:');
    if (decision) for (const call of session.pending) await decide(session, decision, call);
    else await session.send(message);
    const result = await session.settled();
    saveSession(file, session);
    return report(result, file);
  } finally {
    await close();
  }
};

await runMain(main, { flags: 'own' });
