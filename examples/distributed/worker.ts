// One of the workers: start.ts starts it as a process of its own, with the files and the model that all of them share.
import { setTimeout as pause } from 'node:timers/promises';
import { restateWorker } from 'agentchart/restate';
import { createExpenseAgent } from '../expense/create-expense-agent.ts';
import { chooseModel } from '../terminal/choose-model.ts';

const [name = 'worker', ledger = '.sessions/ledger.json'] = process.argv.slice(2);

const { model } = await chooseModel();
const agent = createExpenseAgent(model, ledger, {
  toolMiddleware: [
    (next) => async (run) => {
      console.log(`${name} runs ${run.tool.name}`);
      // As long as a bank takes.
      await pause(run.tool.name === 'Transfer' ? 1_000 : 0);
      return next(run);
    },
  ],
});
console.log(await restateWorker({ agents: agent }).listen());
