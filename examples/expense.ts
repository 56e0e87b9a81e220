// An approval that may take days: this process stops while it waits, another one continues with the decision.
//   expense.ts --file F "Pay 8000 to Mei"      exit status 3: the session waits in F
//   expense.ts --file F --approve | --reject REASON | --edit '{"amount":4000}'
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { PendingCall, RunResult, Session } from 'agentchart';
import { createExpenseAgent } from './expense/create-expense-agent.ts';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeJson, escapeText } from './terminal/escape-text.ts';
import { saveSession } from './terminal/save-session.ts';
import { runMain } from './terminal/run-main.ts';

import { UsageError } from './terminal/usage-error.ts';

const options = {
  file: { type: 'string', default: '.sessions/expense.json' },
  ledger: { type: 'string', default: '.sessions/ledger.json' },
  approve: { type: 'boolean' },
  reject: { type: 'string' },
  edit: { type: 'string' },
} as const;

const { values, positionals } = parseArgs({ options, allowPositionals: true });
const { file, ledger, approve, reject, edit } = values;
const isDecision = approve === true || reject !== undefined || edit !== undefined;

/** The hash says which arguments were looked at: a decision on others is refused. */
const decide = (session: Session, { callId, input, inputHash }: PendingCall): Promise<void> => {
  if (reject !== undefined) return session.reject(callId, { reason: reject, inputHash, by: 'manager' });
  if (edit === undefined) return session.approve(callId, { inputHash, by: 'manager' });
  return session.approve(callId, { input: { ...Object(input), ...JSON.parse(edit) }, inputHash, by: 'manager' });
};

const report = ({ outcome, text, pending }: RunResult): number => {
  if (outcome.type !== 'pending') {
    console.log(text === '' ? outcome.type : escapeText(text));
    return outcome.type === 'answered' ? 0 : 1;
  }
  for (const { tool, input } of pending) console.log(`waiting for a manager: ${tool} ${escapeJson(input)}`);
  console.log(`the session is in ${file}; decide with --approve, --reject REASON or --edit JSON`);
  return 3;
};

await runMain(async () => {
  if (isDecision && !existsSync(file)) throw new UsageError(`There is no session in ${file}; ask for a payment first.`);
  const { model, about, close } = await chooseModel();
  console.log(about);
  try {
    const agent = createExpenseAgent(model, ledger);
    const session = isDecision ? agent.restore(readFileSync(file, 'utf8')) : await agent.open();
    if (isDecision && session.pending.length === 0) console.log('nothing waits for a decision any more:');
    if (isDecision) for (const call of session.pending) await decide(session, call);
    else await session.send(positionals.join(' ') || 'Pay 8000 to Mei for the March trip.');
    const result = await session.settled();
    saveSession(file, session);
    return report(result);
  } finally {
    await close();
  }
});
